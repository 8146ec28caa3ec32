"""Comparing two versions of a skill, and putting together what two lines made of it."""

from skillhub.documents.archive import Content
from skillhub.documents.diff import Diff, diff
from skillhub.documents.merge import merge
from skillhub.errors import Conflict
from skillhub.models import Skill, Version
from skillhub.services import skills
from skillhub.services.scope import Scope, Unit
from skillhub.services.skills import VersionView, check_served_in, numbered_in
from skillhub.services.versions import content_in, publish_in
from skillhub.store import versions as rows


def compare(scope: Scope, *, name: str, before: int, after: int) -> Diff:
    """What makes version `after` of version `before`."""
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        contents = [content_in(unit, numbered_in(unit, skill, number)) for number in (before, after)]
    return diff(*contents)


def merge_versions(
    scope: Scope, *, name: str, left: int, right: int, message: str = "", label: str | None = None
) -> VersionView:
    """A new version with what both versions changed since their nearest common ancestor; both are its parents by `merge`.

    Errors: NotFound; MergeConflict that names each part both changed apart; Conflict where one holds the other already, for a
    version that is held back, and on a retired skill.
    """
    content = _merged(scope, name=name, left=left, right=right)
    with scope.transaction() as unit:
        skill = skills.lock_in(unit, name)
        sides = [_served_in(unit, skill, number) for number in (left, right)]
        version = publish_in(
            unit,
            name=skill.name,
            kind=skill.kind,
            document=content.document,
            files=content.files,
            parents=[(side.id, "merge") for side in sides],
            message=message or f"versions {left} and {right} merged",
            label=label,
        )
        return skills.version_views_in(unit, [(skill, version)])[0]


def _merged(scope: Scope, *, name: str, left: int, right: int) -> Content:
    """What the merge makes. Versions never change, so it is made before anything is locked: documents may be long."""
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        sides = [_served_in(unit, skill, number) for number in (left, right)]
        versions = [_base_in(unit, *sides), *sides]
        contents = [content_in(unit, version) for version in versions]
    return merge(*contents)


def _served_in(unit: Unit, skill: Skill, number: int) -> Version:
    version = numbered_in(unit, skill, number)
    check_served_in(unit, skill, version)
    return version


def _base_in(unit: Unit, left: Version, right: Version) -> Version:
    """The version to merge from; Conflict where there is nothing to merge."""
    if left.id == right.id:
        raise Conflict("a version cannot be merged with itself")
    base = rows.common_ancestor(unit.session, left, right)
    if base is None:
        raise Conflict(f"versions {left.number} and {right.number} have no common ancestor")
    if base.id in (left.id, right.id):
        newer = right if base.id == left.id else left
        raise Conflict(f"version {newer.number} holds version {base.number} already: it comes from it")
    return base
