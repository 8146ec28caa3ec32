"""Holding skills and versions back while someone looks into them. No agent is shown what is held; releasing undoes it.

A label that points at a held version serves nothing: never another version in its place.
"""

from collections.abc import Sequence

from skillhub.errors import NotFound
from skillhub.models import Quarantine, Skill, Version
from skillhub.services import skills
from skillhub.services.scope import Scope, Unit
from skillhub.services.skills import SkillView, VersionView, numbered_in
from skillhub.store import quarantine as rows
from skillhub.store import versions as version_rows


def hold_skill(scope: Scope, *, name: str, reason: str) -> SkillView:
    """No version of the skill is served. Holding twice changes nothing. Conflict on a retired skill."""
    return _move(scope, name, "quarantined", reason=reason)


def release_skill(scope: Scope, *, name: str) -> SkillView:
    """Served again, but for versions that are held by themselves."""
    return _move(scope, name, "published")


def hold_version(scope: Scope, *, name: str, number: int, reason: str, with_descendants: bool) -> list[VersionView]:
    """Hold a version, and where asked all that descends from it, in whatever skill; returns what is held now because of it."""
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name, served=False)
        found = [(skill, numbered_in(unit, skill, number))]
        if with_descendants:
            found += [(below.skill, below.version) for below in rows.descendants(unit.session, found[0][1].id)]
        known = rows.reasons(unit.session, [version.id for _, version in found])
        for owner, version in found:
            if version.id not in known:
                _hold_in(unit, owner, version, reason)
        return skills.version_views_in(unit, found)


def release_version(scope: Scope, *, name: str, number: int) -> VersionView:
    """Serve a version again. Releasing what is not held changes nothing."""
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name, served=False)
        version = numbered_in(unit, skill, number)
        if rows.release(unit.session, version.id):
            unit.record("version.released", version.id, **_facts(skill, version))
        return skills.version_views_in(unit, [(skill, version)])[0]


def descendants(scope: Scope, version_id: str, *, after: str | None, limit: int) -> Sequence[VersionView]:
    """Versions that descend from this one, by id. NotFound for a version that is not there."""
    with scope.transaction() as unit:
        if version_rows.get(unit.session, version_id) is None:
            raise NotFound(f"there is no version {version_id!r}")
        found = rows.descendants(unit.session, version_id, after=after or "", limit=limit)
        return skills.version_views_in(unit, [(below.skill, below.version) for below in found])


def _move(scope: Scope, name: str, state: str, **why: str) -> SkillView:
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name)
        if skill.state != state:
            skill.state = state
            unit.session.add(skill)
            unit.session.flush()
            kind = {"quarantined": "skill.quarantined", "published": "skill.released"}[state]
            unit.record(kind, skill.id, skill_id=skill.id, skill=skill.name, **why)
        return skills.view_in(unit, name)


def _hold_in(unit: Unit, skill: Skill, version: Version, reason: str) -> None:
    facts = {"workspace_id": unit.workspace_id, "reason": reason, "held_by": unit.scope.actor}
    unit.session.add(Quarantine(version_id=version.id, **facts))
    unit.session.flush()
    unit.record("version.quarantined", version.id, **_facts(skill, version), reason=reason)


def _facts(skill: Skill, version: Version) -> dict[str, str | int]:
    return {"skill_id": skill.id, "skill": skill.name, "number": version.number}
