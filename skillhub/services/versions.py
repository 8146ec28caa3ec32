"""Publishing and reading versions: immutable, numbered without gaps, content-addressed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skillhub import documents
from skillhub.documents import archive, edits
from skillhub.documents.archive import PLAIN, SKILL_FILE, BundledFile, Content
from skillhub.errors import Conflict, Invalid, SkillhubError
from skillhub.hashing import sha256_files
from skillhub.ids import new_id
from skillhub.models import Skill, Version
from skillhub.safety import publication
from skillhub.services import labels, skills
from skillhub.services.labels import LATEST, PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.skills import KINDS, VersionView, numbered_in
from skillhub.store import events
from skillhub.store import labels as label_rows
from skillhub.store import skills as skill_rows
from skillhub.store import versions as rows
from skillhub.store.keyset import Start

NEWEST = Start("-number")


def publish_in(
    unit: Unit,
    *,
    name: str,
    kind: str,
    document: str,
    files: Iterable[BundledFile] | None = None,
    parents: Sequence[tuple[str, str]] = (),
    message: str = "",
    candidate_id: str | None = None,
    label: str | None = PRODUCTION,
) -> Version:
    """Write the next version of a skill, which is made where it is missing, and move `label` and `latest` to it.

    `files` are `(path, mode, content)`; None keeps those of the first parent. `parents` are `(version id, relation)`.
    Content equal to the label's current version (to `latest` without a label): that version is returned, nothing is written.
    Errors: Invalid, also for hidden text and credentials, TooLarge; Conflict where the skill is retired or of another kind.
    """
    kept = _files_in(unit, files, parents)
    content = checked(name=name, kind=kind, document=document, files=kept, label=label)
    skill = _skill_in(unit, name=content.name, kind=kind)
    current = _current_in(unit, skill, label)
    if current is not None and current.content_sha256 == content.sha256:
        return current
    version = Version(
        id=new_id("ver"),
        workspace_id=unit.workspace_id,
        skill_id=skill.id,
        number=skill.last_number + 1,
        content_sha256=content.sha256,
        document=document,
        description=content.description,
        message=message,
        created_by=unit.scope.actor,
        candidate_id=candidate_id,
    )
    _insert_in(unit, skill, version, files=content.files, parents=parents)
    for moved in dict.fromkeys([LATEST, label or LATEST]):
        labels.move_in(unit, skill=skill, label=moved, version=version)
    return version


RELATIONS = ("edit", "merge", "split", "optimise", "rollback", "import", "extract")


@dataclass(frozen=True)
class ParentInput:
    """A version that a new one comes from, and how."""

    number: int
    relation: str = "edit"
    """One of `RELATIONS`."""
    skill: str | None = None
    """Where it is a version of another skill."""


@dataclass(frozen=True)
class Publishable:
    """What may be published: the name in its one form, the files checked and in order, the content address."""

    name: str
    description: str
    files: list[BundledFile]
    sha256: str


def checked(*, name: str, kind: str, document: str, files: Iterable[BundledFile], label: str | None) -> Publishable:
    """Everything that is asked of a publication before it meets the database; every way to publish comes through here.

    Errors: Invalid, also for hidden text and credentials; TooLarge.
    """
    parsed = documents.parse(document, name=documents.canonical_name(name))
    if label is not None:
        labels.check_label(label)
    if kind not in KINDS:
        raise Invalid(f"{kind!r} is not a kind; known are {', '.join(KINDS)}", path="/kind")
    kept = archive.checked(files)
    publication.check(document, kept)
    return Publishable(parsed.name, parsed.description, kept, content_sha256(document, kept))


def content_sha256(document: str, files: Iterable[BundledFile] = ()) -> str:
    """Content address of a version: over path, mode and bytes of SKILL.md and all bundled files."""
    return sha256_files([(SKILL_FILE, PLAIN, document.encode()), *files])


def _skill_in(unit: Unit, *, name: str, kind: str) -> Skill:
    events.lock(unit.session, unit.workspace_id)
    skill = Skill(id=new_id("skl"), workspace_id=unit.workspace_id, name=name, kind=kind)
    if skill_rows.insert_if_missing(unit.session, skill):
        unit.record("skill.created", skill.id, skill=name, kind=kind)
    skill = skills.lock_in(unit, name)
    if skill.kind != kind:
        raise Conflict(f"{name!r} is a {skill.kind}, not a {kind}")
    return skill


def _files_in(unit: Unit, files: Iterable[BundledFile] | None, parents: Sequence[tuple[str, str]]) -> list[BundledFile]:
    if files is not None:
        return list(files)
    return rows.files(unit.session, parents[0][0]) if parents else []


def _current_in(unit: Unit, skill: Skill, label: str | None) -> Version | None:
    found = label_rows.get(unit.session, skill_id=skill.id, name=label or LATEST)
    return rows.get(unit.session, found.version_id) if found else None


def _insert_in(
    unit: Unit, skill: Skill, version: Version, *, files: list[BundledFile], parents: Sequence[tuple[str, str]]
) -> None:
    skill.last_number = version.number
    unit.session.add(skill)
    rows.insert(unit.session, version, files=files, parents=parents)
    unit.record(
        "version.published",
        version.id,
        skill_id=skill.id,
        skill=skill.name,
        kind=skill.kind,
        number=version.number,
        content_sha256=version.content_sha256,
        candidate_id=version.candidate_id,
    )


def create(
    scope: Scope,
    *,
    name: str,
    kind: str,
    document: str,
    files: Iterable[BundledFile] = (),
    message: str = "",
    label: str = PRODUCTION,
) -> skills.SkillView:
    """A new skill with its first version. Sending the same again changes nothing; a name taken by another is a Conflict."""
    with scope.transaction() as unit:
        kept = archive.checked(files)
        events.lock(unit.session, unit.workspace_id)
        current = rows.labelled(
            unit.session, workspace_id=unit.workspace_id, skill_name=documents.canonical_name(name), label=LATEST
        )
        if current is not None and current.content_sha256 != content_sha256(document, kept):
            raise Conflict(f"there is already a skill {name!r}; publish a version of it")
        publish_in(unit, name=name, kind=kind, document=document, files=kept, message=message, label=label)
        return skills.view_in(unit, name)


def publish(
    scope: Scope,
    *,
    name: str,
    document: str | None = None,
    operations: Sequence[edits.Operation] = (),
    base: int | None = None,
    files: Iterable[BundledFile] | None = None,
    parents: Sequence[ParentInput] = (),
    message: str = "",
    label: str | None = None,
) -> VersionView:
    """The next version of a skill: a whole document, or edit operations against version `base`, which must be the newest.

    Bundled files stay as they are where `files` is None; the parent is the newest version by `edit` where `parents` is empty.
    Errors: NotFound, Invalid; Conflict where `base` is no longer the newest version.
    """
    edited = _edited(scope, name, base, operations) if operations else document
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name)
        if base is not None and base != skill.last_number:
            raise Conflict(f"version {base} of {skill.name!r} is no longer the newest: that is {skill.last_number}")
        newest = numbered_in(unit, skill, skill.last_number)
        version = publish_in(
            unit,
            name=skill.name,
            kind=skill.kind,
            document=edited,
            files=rows.files(unit.session, newest.id) if files is None else files,
            parents=_parents_in(unit, skill, parents) or [(newest.id, "edit")],
            message=message,
            label=label,
        )
        return skills.version_views_in(unit, [(skill, version)])[0]


def _edited(scope: Scope, name: str, base: int, operations: Sequence[edits.Operation]) -> str:
    """The document of version `base` after the operations; made before anything is locked, for documents may be long."""
    with scope.transaction() as unit:
        before = numbered_in(unit, skills.get_in(unit, name), base)
    return edits.apply(before.document, operations)


def _parents_in(unit: Unit, skill: Skill, parents: Sequence[ParentInput]) -> list[tuple[str, str]]:
    """`(version id, relation)` of each. Errors: NotFound, Invalid for one named twice; both with its place."""
    found: dict[str, str] = {}
    for index, parent in enumerate(parents):
        try:
            owner = skills.get_in(unit, parent.skill) if parent.skill else skill
            version = numbered_in(unit, owner, parent.number)
            if version.id in found:
                raise Invalid(f"version {parent.number} of {owner.name!r} stands there twice")
        except SkillhubError as error:
            raise error.within(f"/parents/{index}") from None
        found[version.id] = parent.relation
    return list(found.items())


def rollback(scope: Scope, *, name: str, number: int, label: str = PRODUCTION, message: str = "") -> VersionView:
    """A new version with the content of an earlier one, its parent by `rollback`; the label moves to it.

    Errors: NotFound; Conflict on a retired skill, and for a version that is held back.
    """
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name)
        target = numbered_in(unit, skill, number)
        skills.check_served_in(unit, skill, target)
        version = publish_in(
            unit,
            name=skill.name,
            kind=skill.kind,
            document=target.document,
            parents=[(target.id, "rollback")],
            message=message or f"back to version {number}",
            label=label,
        )
        return skills.version_views_in(unit, [(skill, version)])[0]


def get(scope: Scope, *, name: str, number: int) -> VersionView:
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        return skills.version_views_in(unit, [(skill, numbered_in(unit, skill, number))])[0]


def history(scope: Scope, start: Start = NEWEST, *, name: str, **filters: Any) -> list[VersionView]:
    """Versions of a skill by `created_by`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        found = rows.history(unit.session, skill_id=skill.id, start=start, **filters)
        return skills.version_views_in(unit, [(skill, version) for version in found])


def by_id(scope: Scope, ids: Sequence[str]) -> list[VersionView]:
    """Versions by id, in the order asked for; an id that is not known here is left out."""
    with scope.transaction() as unit:
        found = {served.version.id: (served.skill, served.version) for served in rows.known_with_skill(unit.session, ids)}
        return skills.version_views_in(unit, [found[id] for id in dict.fromkeys(ids) if id in found])


def content_in(unit: Unit, version: Version) -> Content:
    """What a version holds."""
    return Content(version.document, rows.files(unit.session, version.id))
