"""Moving labels. Every move is an event; `latest` moves only with a publication."""

import re
from collections.abc import Sequence

from skillhub.errors import Invalid, NotFound, PreconditionFailed
from skillhub.models import Event, Label, Skill, Version
from skillhub.models.base import now
from skillhub.services import skills
from skillhub.services.scope import Scope, Unit
from skillhub.store import events, labels, versions
from skillhub.store.keyset import Start

LATEST = "latest"
PRODUCTION = "production"
BY_NAME, NEWEST = Start("name"), Start("-seq")
MOVES = ("label.moved", "label.removed")
_LABEL = re.compile(r"(?!\d+\Z)[a-z0-9][a-z0-9_.-]{0,35}")


def check_label(name: str) -> None:
    """Lowercase, up to 36 characters, and never a bare number, which would read as a version."""
    if not _LABEL.fullmatch(name):
        raise Invalid(f"{name!r} is not a label: a-z, 0-9, `_`, `.`, `-`, up to 36, not a bare number", path="/label")


def get(scope: Scope, *, name: str, label: str) -> tuple[Label, Version]:
    """A label of a skill and the version under it; NotFound for any that is not there."""
    with scope.transaction() as unit:
        return get_in(unit, skills.get_in(unit, name), label)


def page(scope: Scope, start: Start = BY_NAME, *, name: str) -> list[tuple[Label, Version]]:
    """Labels of a skill with the versions under them."""
    with scope.transaction() as unit:
        found = labels.page(unit.session, skill_id=skills.get_in(unit, name).id, start=start)
        return [(label, versions.get(unit.session, label.version_id)) for label in found]


def query(scope: Scope, wanted: Sequence[tuple[str, str]]) -> list[tuple[str, Label, Version]]:
    """`(skill, label, version)` of each `(skill, label)` that is there, in the order asked for."""
    with scope.transaction() as unit:
        return labels.known(unit.session, workspace_id=unit.workspace_id, wanted=list(dict.fromkeys(wanted)))


def get_in(unit: Unit, skill: Skill, label: str) -> tuple[Label, Version]:
    found = labels.get(unit.session, skill_id=skill.id, name=label) if _LABEL.fullmatch(label) else None
    if found is None:
        raise NotFound(f"the skill {skill.name!r} has no label {label!r}")
    return found, versions.get(unit.session, found.version_id)


def history(scope: Scope, start: Start = NEWEST, *, name: str, label: str) -> Sequence[Event]:
    """Every move of a label, of one that was removed too; events of the kinds `MOVES`."""
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        return events.of_label(unit.session, unit.workspace_id, kinds=MOVES, skill_id=skill.id, label=label, start=start)


def move(
    scope: Scope, *, name: str, label: str, number: int, revision: int | None, new: bool = False, reason: str = ""
) -> tuple[Label, Version]:
    """Point a label at a version. `revision` is the one the caller read; None only where the label is not there yet, which
    `new` asks for.

    Errors: NotFound, PreconditionFailed where the label moved meanwhile, Conflict on a retired skill.
    """
    _check_movable(label)
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name)
        version = skills.numbered_in(unit, skill, number)
        skills.check_served_in(unit, skill, version)
        found = labels.get(unit.session, skill_id=skill.id, name=label)
        if new and found is not None:
            raise PreconditionFailed(f"the label is there: its revision is {found.revision}")
        _check_revision(found, revision)
        return move_in(unit, skill=skill, label=label, version=version, reason=reason), version


def remove(scope: Scope, *, name: str, label: str, revision: int | None, reason: str = "") -> None:
    """Take a label away; its history stays. No version is served under it any more.

    Errors: NotFound, PreconditionFailed where `revision` is not its own, Conflict on a retired skill.
    """
    _check_movable(label)
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name)
        found, version = get_in(unit, skill, label)
        _check_revision(found, revision)
        unit.session.delete(found)
        unit.session.flush()
        facts = {"skill_id": skill.id, "skill": skill.name, "label": label, "reason": reason, "revision": found.revision}
        unit.record("label.removed", skill.id, **facts, from_version_id=version.id, from_number=version.number)


def move_in(unit: Unit, *, skill: Skill, label: str, version: Version, reason: str = "") -> Label:
    """Point a label at a version; the caller holds the skill's row lock. A move to where it already points does nothing."""
    found = labels.get(unit.session, skill_id=skill.id, name=label)
    before = found.version_id if found else None
    if found is None:
        facts = {"workspace_id": unit.workspace_id, "revision": _first_revision_in(unit, skill, label)}
        found = Label(skill_id=skill.id, name=label, version_id=version.id, **facts)
    elif before == version.id:
        return found
    else:
        found.version_id, found.revision, found.moved_at = version.id, found.revision + 1, now()
    unit.session.add(found)
    unit.session.flush()
    unit.record(
        "label.moved",
        skill.id,
        skill_id=skill.id,
        skill=skill.name,
        label=label,
        version_id=version.id,
        number=version.number,
        from_version_id=before,
        **({"reason": reason} if reason else {}),
    )
    return found


def _first_revision_in(unit: Unit, skill: Skill, label: str) -> int:
    """Of a new label: never one that a label of this name had before, so that no `If-Match` of then holds now."""
    removed = labels.removed(unit.session, workspace_id=unit.workspace_id, skill_ids=[skill.id])
    return removed.get((skill.id, label), 0) + 1


def _check_movable(label: str) -> None:
    check_label(label)
    if label == LATEST:
        raise Invalid(f"{LATEST!r} always names the newest version and cannot be moved", path="/label")


def _check_revision(label: Label | None, revision: int | None) -> None:
    if label is None and revision is not None:
        raise PreconditionFailed("the label is not there")
    if label is not None and revision is None:
        raise PreconditionFailed("send the label's ETag in `If-Match`")
    if label is not None and revision != label.revision:
        raise PreconditionFailed(f"the label was moved meanwhile: its revision is {label.revision}, not {revision}")
