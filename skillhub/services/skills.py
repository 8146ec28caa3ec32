"""Finding, listing and retiring skills."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from skillhub.documents import canonical_name
from skillhub.documents.skillmd import name_faults
from skillhub.errors import Conflict, NotFound
from skillhub.models import Skill, Version
from skillhub.models.base import now
from skillhub.services.scope import Scope, Unit
from skillhub.store import events, labels, quarantine, skills, versions
from skillhub.store.keyset import Start

KINDS = ("skill", "rule")
BY_NAME = Start("name")


@dataclass(frozen=True)
class VersionView:
    """A version with the names a reader knows it by."""

    version: Version
    skill: Skill
    parents: list[versions.Parent]
    held_because: str | None = None
    """Why the version is held back; None where it is not."""


@dataclass(frozen=True)
class SkillView:
    """A skill with what a list or a page shows of it."""

    skill: Skill
    labels: dict[str, int]
    """Label -> number of its version."""
    latest: VersionView


def get(scope: Scope, name: str) -> SkillView:
    with scope.transaction() as unit:
        return view_in(unit, name)


def page(scope: Scope, start: Start = BY_NAME, **filters: Any) -> list[SkillView]:
    """Skills by `kind`, `state`, `label`, `prefix`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return _views(unit, skills.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters))


def retire_all(scope: Scope, *, names: Sequence[str], reason: str) -> list[SkillView]:
    """Take skills out of service in one transaction: all of them, or none where one is not there."""
    with scope.transaction() as unit:
        return _views(unit, [retire_in(unit, name, reason=reason) for name in dict.fromkeys(names)])


def retire(scope: Scope, *, name: str, reason: str) -> SkillView:
    """Take a skill out of service for good; nothing is deleted. Retiring twice changes nothing."""
    return retire_all(scope, names=[name], reason=reason)[0]


def retire_in(unit: Unit, name: str, *, reason: str) -> Skill:
    skill = lock_in(unit, name, served=False)
    if skill.state != "retired":
        skill.state, skill.retired_at = "retired", now()
        unit.session.add(skill)
        unit.session.flush()
        unit.record("skill.retired", skill.id, skill_id=skill.id, skill=skill.name, reason=reason)
    return skill


def get_in(unit: Unit, name: str) -> Skill:
    """The skill of that name, else NotFound."""
    return skills.named(unit.session, workspace_id=unit.workspace_id, name=_known(name)) or _missing(name)


def numbered_in(unit: Unit, skill: Skill, number: int) -> Version:
    """Version `number` of the skill, else NotFound."""
    version = versions.numbered(unit.session, skill_id=skill.id, number=number)
    if version is None:
        raise NotFound(f"the skill {skill.name!r} has no version {number}")
    return version


def check_served_in(unit: Unit, skill: Skill, version: Version) -> None:
    """Conflict for a version that is held back."""
    if held := quarantine.reasons(unit.session, [version.id]):
        raise Conflict(f"version {version.number} of {skill.name!r} is held back: {held[version.id]}")


def view_in(unit: Unit, name: str) -> SkillView:
    return _views(unit, [get_in(unit, name)])[0]


def lock_in(unit: Unit, name: str, *, served: bool = True) -> Skill:
    """The skill with its row locked; Conflict where it is retired and `served` is asked for.

    The lock of the event log comes first: everything that changes a skill also appends events, and one order of locks
    means no deadlock with a transaction that has recorded something before it gets here.
    """
    events.lock(unit.session, unit.workspace_id)
    skill = skills.lock(unit.session, workspace_id=unit.workspace_id, name=_known(name)) or _missing(name)
    if served and skill.state == "retired":
        raise Conflict(f"the skill {skill.name!r} is retired")
    return skill


def _known(name: str) -> str:
    """The canonical name; NotFound for one that no skill can have, before it reaches the database."""
    canonical = canonical_name(name)
    return _missing(name) if name_faults(canonical) else canonical


def _missing(name: str) -> NoReturn:
    raise NotFound(f"there is no skill {name!r}")


def version_views_in(unit: Unit, found: Sequence[tuple[Skill, Version]]) -> list[VersionView]:
    ids = [version.id for _, version in found]
    edges, held = versions.parents(unit.session, version_ids=ids), quarantine.reasons(unit.session, ids)
    return [
        VersionView(version, skill, [e for e in edges if e.version_id == version.id], held.get(version.id))
        for skill, version in found
    ]


def _views(unit: Unit, rows: Sequence[Skill]) -> list[SkillView]:
    ids = [row.id for row in rows]
    by_label = labels.numbers(unit.session, skill_ids=ids)
    newest = versions.newest(unit.session, skill_ids=ids)
    latest = version_views_in(unit, [(row, newest[row.id]) for row in rows])
    return [SkillView(view.skill, by_label[view.skill.id], view) for view in latest]
