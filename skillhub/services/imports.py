"""Skill folders in and out: what is imported and not edited comes out byte for byte."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from skillhub import documents
from skillhub.documents import archive, zips
from skillhub.documents.archive import Folder
from skillhub.errors import Conflict, Invalid, SkillhubError, TooLarge
from skillhub.models import Skill, Version
from skillhub.services import labels, skills
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.versions import publish_in
from skillhub.store import quarantine
from skillhub.store import skills as skill_rows
from skillhub.store import versions as rows
from skillhub.store.keyset import Start

PAGE = 100
"""Skills that an export of all reads at once."""


@dataclass(frozen=True)
class Imported:
    """What became of one folder."""

    folder: str
    """Relative to the root of the import; empty for the root itself."""
    skill: str | None
    """None where the folder was refused before its name was known."""
    version: Version | None
    """None where the folder was refused."""
    error: SkillhubError | None = None


def import_zip(
    scope: Scope, content: bytes, *, kind: str = "skill", message: str = "", label: str | None = PRODUCTION
) -> list[Imported]:
    """Publish every skill folder of a zip, in one transaction.

    A folder that is not a valid skill is reported with its errors and keeps no other from being imported. A skill that exists
    gets a new version, unless its content is the same. Errors: Invalid and TooLarge where the zip itself is unsafe, broken, too
    large or holds no skill at all; then nothing is written.
    """
    folders = archive.grouped(zips.read(content))
    if not folders:
        raise Invalid("there is no SKILL.md in the zip", path="/zip")
    with scope.transaction() as unit:
        done: list[Imported] = []
        for folder in folders:
            done.append(_import_in(unit, folder, done, kind=kind, message=message, label=label))
        return done


def export(scope: Scope, *, name: str, label: str = PRODUCTION, number: int | None = None) -> tuple[Version, bytes]:
    """The version and a zip of its folder; version `number`, or the one under `label`. NotFound where there is none."""
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        version = labels.get_in(unit, skill, label)[1] if number is None else skills.numbered_in(unit, skill, number)
        buffer = io.BytesIO()
        zips.write([_folder_in(unit, skill, version)], buffer)
        return version, buffer.getvalue()


def export_many(scope: Scope, *, names: Sequence[str], label: str = PRODUCTION, into: IO[bytes]) -> None:
    """A zip of the folders of these skills, or of all that are published, as they stand under `label`.

    NotFound for a name that is not there or has no such label; of all skills, those without it are left out.
    """
    labels.check_label(label)
    with scope.transaction() as unit:
        zips.write(_named_in(unit, names, label) if names else _all_in(unit, label), into)


def _named_in(unit: Unit, names: Sequence[str], label: str) -> Iterator[Folder]:
    for name in dict.fromkeys(documents.canonical_name(name) for name in names):
        skill = skills.get_in(unit, name)
        yield _folder_in(unit, skill, labels.get_in(unit, skill, label)[1])


def _all_in(unit: Unit, label: str) -> Iterator[Folder]:
    start = Start("name", limit=PAGE)
    while found := skill_rows.page(unit.session, workspace_id=unit.workspace_id, start=start, state="published"):
        for skill in found:
            version = rows.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=skill.name, label=label)
            if version is not None and not quarantine.reasons(unit.session, [version.id]):
                yield _folder_in(unit, skill, version)
        start = replace(start, after=(found[-1].name,))


def _folder_in(unit: Unit, skill: Skill, version: Version) -> Folder:
    return Folder(skill.name, version.document.encode(), rows.files(unit.session, version.id))


def _import_in(unit: Unit, folder: Folder, done: Sequence[Imported], *, kind: str, message: str, label: str | None) -> Imported:
    try:
        document = documents.parse(folder.document, name=folder.name)
        if any(other.version and other.skill == document.name for other in done):
            raise Conflict(f"another folder of this import is named {document.name!r} too")
        with unit.session.begin_nested():
            version = _publish_in(unit, document, folder, kind=kind, message=message, label=label)
    except (Invalid, TooLarge, Conflict) as error:
        return Imported(folder.path, folder.name, None, error)
    return Imported(folder.path, document.name, version)


def _publish_in(
    unit: Unit, document: documents.Document, folder: Folder, *, kind: str, message: str, label: str | None
) -> Version:
    newest = rows.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=document.name, label=labels.LATEST)
    return publish_in(
        unit,
        name=document.name,
        kind=kind,
        document=document.text,
        files=folder.files,
        parents=[(newest.id, "import")] if newest else [],
        message=message or "imported",
        label=label,
    )
