"""SQL of versions that are held back, and of what descends from a version."""

from collections.abc import Collection, Sequence

from sqlalchemy import text
from sqlmodel import Session, col, delete, exists, select

from skillhub.models import Label, Quarantine, Skill, Version
from skillhub.store.versions import Served

HELD_LABEL = exists().where(col(Quarantine.version_id) == col(Label.version_id))
"""Of a query over labels: what the label points to is held back."""
_DESCENDANTS = text("""
WITH RECURSIVE below (id) AS (
  SELECT version_id FROM version_parent WHERE parent_id = :version_id
  UNION SELECT p.version_id FROM version_parent p JOIN below ON p.parent_id = below.id
)
SELECT id FROM below WHERE id > :after ORDER BY id LIMIT :limit
""")


def reasons(session: Session, version_ids: Collection[str]) -> dict[str, str]:
    """`{version id: why}` of those that are held back."""
    query = select(Quarantine.version_id, Quarantine.reason).where(col(Quarantine.version_id).in_(version_ids))
    return dict(session.exec(query).all())


def release(session: Session, version_id: str) -> bool:
    """False where the version was not held back."""
    return session.exec(delete(Quarantine).where(col(Quarantine.version_id) == version_id)).rowcount > 0


def descendants(session: Session, version_id: str, *, after: str = "", limit: int | None = None) -> list[Served]:
    """Versions that have this one among their forebears, whatever their skill, by id, from the one after `after`."""
    names = {"version_id": version_id, "after": after, "limit": limit}
    ids: Sequence[str] = session.execute(_DESCENDANTS, names).scalars().all()
    query = select(Version, Skill).join(Skill, col(Skill.id) == col(Version.skill_id)).where(col(Version.id).in_(ids))
    return [Served(version, skill) for version, skill in session.exec(query.order_by(Version.id))]
