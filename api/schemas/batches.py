"""Bodies of calls about many things."""

from pydantic import BaseModel, Field

from api.schemas.base import Body, Name
from api.schemas.search import LabelName
from api.schemas.skills import Message, SkillOut, VersionOut
from api.schemas.versions import LabelOut
from skillhub.services.labels import PRODUCTION

MAX_MANY = 500


class LabelQueryIn(Body):
    skills: list[Name] = Field(min_length=1, max_length=MAX_MANY)
    label: LabelName = PRODUCTION


class LabelsOut(BaseModel):
    labels: list[LabelOut]


class VersionQueryIn(Body):
    ids: list[Name] = Field(min_length=1, max_length=MAX_MANY)


class VersionsOut(BaseModel):
    versions: list[VersionOut]


class RetireManyIn(Body):
    skills: list[Name] = Field(min_length=1, max_length=MAX_MANY)
    reason: Message = Field(min_length=1)


class SkillsOut(BaseModel):
    skills: list[SkillOut]
