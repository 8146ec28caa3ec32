"""Bodies of what happens to versions: several at once, merges, differences, labels."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from api.schemas.base import Body, Text
from api.schemas.skills import FileIn, Message, Number, SkillIn, VersionOut, bundled
from skillhub.documents.archive import MAX_FILES
from skillhub.documents.diff import MAX_LINES, Diff
from skillhub.models import Event, Label, Version
from skillhub.services.labels import PRODUCTION
from skillhub.services.publications import Publication

MAX_PUBLICATIONS = 100


class PublicationIn(SkillIn):
    """The next version of a skill, which is made where it is missing."""

    files: list[FileIn] | None = Field(
        default=None, max_length=MAX_FILES, description="All bundled files; without it those of the newest version stay"
    )
    label: Text | None = Field(default=PRODUCTION, description="A label to move to the version besides `latest`; null for none")

    def item(self, index: int) -> Publication:
        files = None if self.files is None else bundled(self.files, place=f"/body/items/{index}")
        return Publication(**self.model_dump(exclude={"files"}), files=files)


class PublicationsIn(Body):
    items: list[PublicationIn] = Field(min_length=1, max_length=MAX_PUBLICATIONS)


class PublicationsOut(BaseModel):
    versions: list[VersionOut] = Field(description="One for each item, in order")


class MergeIn(Body):
    versions: list[Number] = Field(min_length=2, max_length=2, description="Numbers of the two sides", examples=[[2, 3]])
    message: Message = ""
    label: Text | None = Field(default=None, description="A label to move to the new version besides `latest`")


class PartsOut(BaseModel):
    """Names of the parts that differ."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    moved: bool = Field(description="Whether parts that both have stand in another order")


class DiffOut(BaseModel):
    metadata: PartsOut = Field(description="Fields of the frontmatter by value; entries of `metadata` as `metadata.KEY`")
    sections: PartsOut = Field(description="By anchor; blank lines at their ends do not count")
    files: PartsOut = Field(description="By path, the executable bit included")
    text: str | None = Field(description=f"A unified diff of SKILL.md; null where one side has more than {MAX_LINES} lines")

    @classmethod
    def of(cls, diff: Diff) -> "DiffOut":
        parts = {name: PartsOut(**vars(getattr(diff, name))) for name in ("metadata", "sections", "files")}
        return cls(**parts, text=diff.text)


class LabelIn(Body):
    number: Number
    reason: Message = ""


class LabelOut(BaseModel):
    skill: str
    label: str
    number: int
    version_id: str
    revision: int
    moved_at: datetime

    @classmethod
    def of(cls, skill: str, label: Label, version: Version) -> "LabelOut":
        facts = label.model_dump(include={"version_id", "revision", "moved_at"})
        return cls(skill=skill, label=label.name, number=version.number, **facts)


class LabelMoveOut(BaseModel):
    """One move of a label."""

    seq: int
    number: int | None = Field(description="Where it points since; null where it was removed")
    version_id: str | None
    from_version_id: str | None
    reason: str
    actor: str
    created_at: datetime

    @classmethod
    def of(cls, event: Event) -> "LabelMoveOut":
        names: dict[str, Any] = dict.fromkeys(("number", "version_id", "from_version_id")) | {"reason": ""}
        facts = {name: event.payload.get(name, default) for name, default in names.items()}
        return cls(seq=event.seq, actor=event.actor, created_at=event.created_at, **facts)
