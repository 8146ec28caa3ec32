"""Bodies of the catalogue's routes."""

import base64
import binascii
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from api.schemas.base import Body, Json, Text
from skillhub.documents.archive import MAX_FILE_BYTES, MAX_FILES, MAX_PATH_CHARACTERS, BundledFile
from skillhub.documents.edits import MAX_OPERATIONS
from skillhub.documents.skillmd import MAX_DOCUMENT_BYTES
from skillhub.errors import Invalid
from skillhub.services.labels import PRODUCTION
from skillhub.services.skills import SkillView, VersionView
from skillhub.services.versions import RELATIONS, ParentInput

Kind = Literal["skill", "rule"]
MAX_NUMBER = 2**31 - 1
MAX_PARENTS = 16


Message = Annotated[Text, Field(max_length=500)]
Number = Annotated[int, Field(ge=1, le=MAX_NUMBER)]


class FileIn(Body):
    path: Text = Field(max_length=MAX_PATH_CHARACTERS)
    mode: int = Field(default=0o644, ge=0, le=0o777)
    content_base64: Text = Field(max_length=MAX_FILE_BYTES * 4 // 3 + 4)


class SkillIn(Body):
    name: Text = Field(max_length=256)
    kind: Kind = "skill"
    document: str = Field(max_length=MAX_DOCUMENT_BYTES, description="SKILL.md in full")
    files: list[FileIn] = Field(default=[], max_length=MAX_FILES)
    message: Message = ""
    label: Text = PRODUCTION

    def bundled(self) -> list[BundledFile]:
        return bundled(self.files)


class ParentIn(Body):
    number: Number
    relation: Literal[RELATIONS] = "edit"
    skill: Text | None = Field(default=None, max_length=256, description="Where it is a version of another skill")


class VersionIn(Body):
    """A whole document, or edit operations against version `base`."""

    document: str | None = Field(default=None, max_length=MAX_DOCUMENT_BYTES)
    operations: list[Json] = Field(default=[], max_length=MAX_OPERATIONS)
    base: Number | None = Field(default=None, description="Newest version the caller has read; needed with operations")
    files: list[FileIn] | None = Field(
        default=None, max_length=MAX_FILES, description="All bundled files; without it those of the newest version stay"
    )
    parents: list[ParentIn] = Field(
        default=[], max_length=MAX_PARENTS, description="What it comes from; without any, from the newest version by `edit`"
    )
    message: Message = ""
    label: Text | None = Field(default=None, description="A label to move to the new version besides `latest`")

    @model_validator(mode="after")
    def _one_way(self) -> "VersionIn":
        if (self.document is None) == (not self.operations):
            raise ValueError("send either a document or operations")
        if self.operations and self.base is None:
            raise ValueError("operations need the number of the version they were made against in `base`")
        return self

    def facts(self) -> dict[str, Any]:
        """The arguments of the use case."""
        files = None if self.files is None else bundled(self.files)
        parents = [ParentInput(**parent.model_dump()) for parent in self.parents]
        return self.model_dump(exclude={"files", "parents"}) | {"files": files, "parents": parents}


class RollbackIn(Body):
    number: Number
    label: Text = PRODUCTION
    message: Message = ""


class RetireIn(Body):
    reason: Message = Field(min_length=1)


class HoldVersionIn(Body):
    reason: Message = Field(min_length=1)
    with_descendants: bool = Field(default=False, description="Also all that descends from it, in whatever skill")


class ParentOut(BaseModel):
    number: int
    version_id: str
    relation: str


class VersionOut(BaseModel):
    id: str
    skill: str
    kind: str
    number: int
    content_sha256: str
    document: str
    description: str
    message: str
    created_by: str
    created_at: datetime
    candidate_id: str | None
    parents: list[ParentOut]
    held_because: str | None = Field(description="Why it is held back and shown to no agent; null where it is not")

    @classmethod
    def of(cls, view: VersionView) -> "VersionOut":
        parents = [ParentOut(number=p.number, version_id=p.parent_id, relation=p.relation) for p in view.parents]
        facts = view.version.model_dump(exclude={"workspace_id", "skill_id"})
        names = {"skill": view.skill.name, "kind": view.skill.kind}
        return cls(**facts, **names, parents=parents, held_because=view.held_because)


class SkillOut(BaseModel):
    id: str
    name: str
    kind: str
    state: str
    created_at: datetime
    retired_at: datetime | None
    labels: dict[str, int]
    latest_version: VersionOut

    @classmethod
    def of(cls, view: SkillView) -> "SkillOut":
        facts = view.skill.model_dump(exclude={"workspace_id", "last_number"})
        return cls(**facts, labels=view.labels, latest_version=VersionOut.of(view.latest))


class LineageOut(BaseModel):
    """Nodes are `{id, type, ...}` with type `version`, `candidate`, `decision`, `evidence` or `episode`."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, str]]


class BlamedDecisionOut(BaseModel):
    id: str
    gate_id: str
    verdict: str
    reason: str
    numbers: dict[str, Any]
    created_at: datetime


class BlamedEvidenceOut(BaseModel):
    id: str
    claim: str
    polarity: int
    weight: float
    state: str
    episode_ids: list[str]


class BlamedSentenceOut(BaseModel):
    line: int
    text: str
    anchor: str
    introduced_in: int
    version_id: str
    candidate_id: str | None
    decision: BlamedDecisionOut | None
    evidence: list[BlamedEvidenceOut]


class BlameOut(BaseModel):
    sentences: list[BlamedSentenceOut]


def bundled(files: list[FileIn], *, place: str = "/body") -> list[BundledFile]:
    """The files of the body that stands at `place`."""
    return [BundledFile(file.path, file.mode, _decoded(file, f"{place}/files/{i}")) for i, file in enumerate(files)]


def _decoded(file: FileIn, place: str) -> bytes:
    try:
        return base64.b64decode(file.content_base64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid(f"{file.path!r} is not valid base64", path=f"{place}/content_base64") from error
