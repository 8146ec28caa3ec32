"""SQL of versions, their files and their parents. Versions are only ever inserted."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlmodel import Session, col, select

from skillhub.documents.archive import BundledFile
from skillhub.models import Label, Skill, Version, VersionFile, VersionParent
from skillhub.store import keyset
from skillhub.store.keyset import Start

ORDERS = {"number": ("number",)}
_COMMON = text("""
WITH RECURSIVE above (id, side) AS (
  VALUES (:left, 'left'), (:right, 'right')
  UNION SELECT p.parent_id, above.side FROM version_parent p JOIN above ON p.version_id = above.id
)
SELECT v.id FROM version v JOIN above USING (id)
GROUP BY v.id HAVING count(*) = 2 ORDER BY v.skill_id = :skill_id DESC, v.number DESC, v.id LIMIT 1
""")


class Served(NamedTuple):
    """A version under a label, with the skill it belongs to."""

    version: Version
    skill: Skill


class Parent(NamedTuple):
    """One edge of the lineage, seen from the child."""

    version_id: str
    parent_id: str
    number: int
    """Number of the parent."""
    relation: str


def get(session: Session, version_id: str) -> Version | None:
    return session.get(Version, version_id)


def numbered(session: Session, *, skill_id: str, number: int) -> Version | None:
    return session.exec(select(Version).where(Version.skill_id == skill_id, Version.number == number)).one_or_none()


def labelled(session: Session, *, workspace_id: str, skill_name: str, label: str) -> Version | None:
    """The version a label of a skill points to, whatever the state of the skill."""
    query = (
        select(Version)
        .join(Label, col(Label.version_id) == col(Version.id))
        .join(Skill, col(Skill.id) == col(Label.skill_id))
        .where(Skill.workspace_id == workspace_id, Skill.name == skill_name, Label.name == label)
    )
    return session.exec(query).one_or_none()


def with_skill(session: Session, version_ids: Collection[str]) -> list[Served]:
    """The versions with their skills, whatever their labels and states, in the order of the ids."""
    found = {served.version.id: served for served in known_with_skill(session, version_ids)}
    return [found[version_id] for version_id in version_ids]


def known_with_skill(session: Session, version_ids: Collection[str]) -> list[Served]:
    """Those of the versions that are there, with their skills."""
    query = select(Version, Skill).join(Skill, col(Skill.id) == col(Version.skill_id)).where(col(Version.id).in_(version_ids))
    return [Served(version, skill) for version, skill in session.exec(query)]


def newest(session: Session, *, skill_ids: Collection[str]) -> dict[str, Version]:
    """Skill id -> its newest version."""
    query = select(Version).join(Skill, col(Skill.id) == col(Version.skill_id))
    query = query.where(col(Skill.id).in_(skill_ids), Version.number == Skill.last_number)
    return {version.skill_id: version for version in session.exec(query)}


def common_ancestor(session: Session, left: Version, right: Version) -> Version | None:
    """The nearest version that both come from, which may be one of the two; None where there is none.

    Numbers grow along the edges within a skill, so the highest number is below no other.
    """
    names = {"left": left.id, "right": right.id, "skill_id": left.skill_id}
    found = session.execute(_COMMON, names).scalar_one_or_none()
    return get(session, found) if found else None


def history(session: Session, *, skill_id: str, start: Start, **filters: Any) -> Sequence[Version]:
    """Versions of a skill with these values."""
    query = keyset.filtered(select(Version).where(Version.skill_id == skill_id), Version, filters)
    return keyset.page(session, query, Version, orders=ORDERS, start=start)


def insert(session: Session, version: Version, *, files: Iterable[BundledFile], parents: Iterable[tuple[str, str]]) -> None:
    """Write a version with its files and its `(parent version id, relation)` edges."""
    session.add(version)
    session.flush()
    for path, mode, content in files:
        session.add(
            VersionFile(version_id=version.id, path=path, workspace_id=version.workspace_id, mode=mode, content=content)
        )
    for parent_id, relation in parents:
        session.add(
            VersionParent(version_id=version.id, parent_id=parent_id, workspace_id=version.workspace_id, relation=relation)
        )
    session.flush()


def files(session: Session, version_id: str) -> list[BundledFile]:
    """Bundled files of a version by path, SKILL.md not among them."""
    rows = session.exec(select(VersionFile).where(VersionFile.version_id == version_id).order_by(VersionFile.path))
    return [BundledFile(row.path, row.mode, row.content) for row in rows]


def parents(session: Session, *, version_ids: Collection[str]) -> list[Parent]:
    """Edges to the parents of the versions."""
    query = (
        select(VersionParent.version_id, VersionParent.parent_id, Version.number, VersionParent.relation)
        .join(Version, col(Version.id) == col(VersionParent.parent_id))
        .where(col(VersionParent.version_id).in_(version_ids))
        .order_by(VersionParent.version_id, Version.number)
    )
    return [Parent(*row) for row in session.exec(query)]
