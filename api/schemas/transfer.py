"""Bodies of the routes that take many skills at once."""

from typing import Any

from pydantic import BaseModel, Field

from skillhub.errors import SkillhubError
from skillhub.safety.text import storable
from skillhub.services.imports import Imported


class FaultOut(BaseModel):
    """Why a folder was refused, in the words of a problem document."""

    code: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = Field(description="`path`, `message` and, where it is known, `line` of each fault")

    @classmethod
    def of(cls, error: SkillhubError) -> "FaultOut":
        said = [
            {key: storable(value) if isinstance(value, str) else value for key, value in item.items()} for item in error.errors
        ]
        return cls(code=error.code, status=error.status, detail=storable(error.detail), errors=said)


class ImportedOut(BaseModel):
    folder: str = Field(description="Path in the zip; empty for the root")
    skill: str | None
    number: int | None = Field(
        description="Number of the version, which is an old one where nothing changed; null where refused"
    )
    version_id: str | None
    error: FaultOut | None

    @classmethod
    def of(cls, item: Imported) -> "ImportedOut":
        version, error = item.version, FaultOut.of(item.error) if item.error else None
        number, version_id = (version.number, version.id) if version else (None, None)
        return cls(folder=item.folder, skill=item.skill, number=number, version_id=version_id, error=error)


class ImportOut(BaseModel):
    """One result for each skill folder, by path."""

    results: list[ImportedOut]

    @classmethod
    def of(cls, items: list[Imported]) -> "ImportOut":
        return cls(results=[ImportedOut.of(item) for item in items])
