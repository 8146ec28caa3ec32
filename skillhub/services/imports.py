"""Skill folders in and out: what is imported and not edited comes out byte for byte."""

from dataclasses import dataclass
from pathlib import Path

from skillhub import documents
from skillhub.documents import archive
from skillhub.documents.archive import BundledFile
from skillhub.errors import Conflict, Invalid, SkillhubError, TooLarge
from skillhub.models import Version
from skillhub.services import labels, skills
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.versions import numbered_in, publish_in
from skillhub.store import versions as rows


@dataclass(frozen=True)
class Imported:
    """What became of one folder."""

    folder: str
    """Relative to the root of the import."""
    skill: str
    version: Version | None
    """None where the folder was refused."""
    error: SkillhubError | None = None


def import_tree(
    scope: Scope, root: Path, *, kind: str = "skill", message: str = "", label: str | None = PRODUCTION
) -> list[Imported]:
    """Publish every skill folder at or below `root`, in one transaction.

    A folder that is not a valid skill is reported with its errors and keeps no other from being imported. A skill that exists
    gets a new version, unless its content is the same. Errors: Invalid where `root` holds no skill at all.
    """
    if not root.is_dir():
        raise Invalid(f"{root} is not a folder", path="/root")
    folders = archive.find_skills(root.resolve())
    if not folders:
        raise Invalid(f"there is no SKILL.md in or below {root}", path="/root")
    with scope.transaction() as unit:
        return [_import_in(unit, folder, root.resolve(), kind=kind, message=message, label=label) for folder in folders]


def export(scope: Scope, *, name: str, label: str = PRODUCTION, number: int | None = None) -> tuple[Version, bytes]:
    """The version and a zip of its folder; version `number`, or the one under `label`. NotFound where there is none."""
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        version = labels.get_in(unit, skill, label)[1] if number is None else numbered_in(unit, skill, number)
        return version, archive.to_zip(skill.name, version.document, rows.files(unit.session, version.id))


def _import_in(unit: Unit, folder: Path, root: Path, *, kind: str, message: str, label: str | None) -> Imported:
    shown = folder.relative_to(root).as_posix()
    try:
        source, files = archive.read_folder(folder)
        document = documents.parse(source, name=folder.name)
        with unit.session.begin_nested():
            version = _publish_in(unit, document, files, kind=kind, message=message, label=label)
    except (Invalid, TooLarge, Conflict) as error:
        return Imported(shown, folder.name, None, error)
    return Imported(shown, document.name, version)


def _publish_in(
    unit: Unit, document: documents.Document, files: list[BundledFile], *, kind: str, message: str, label: str | None
) -> Version:
    newest = rows.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=document.name, label=labels.LATEST)
    return publish_in(
        unit,
        name=document.name,
        kind=kind,
        document=document.text,
        files=files,
        parents=[(newest.id, "import")] if newest else [],
        message=message or "imported",
        label=label,
    )
