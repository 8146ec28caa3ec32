"""SQL of the reading index: what changed, what is under which label, and the vectors kept for it."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from skillhub.models import Embedding, Label, Skill, Version
from skillhub.store.quarantine import HELD_LABEL
from skillhub.store.versions import Served

_HEADS = text("SELECT id, (SELECT coalesce(max(seq), 0) FROM event WHERE workspace_id = workspace.id) FROM workspace")
_CHANGES = text("""
SELECT seq, payload ->> 'skill_id' FROM event
WHERE workspace_id = :workspace_id AND seq > :after AND seq <= :upto AND payload ? 'skill_id'
ORDER BY seq LIMIT :limit
""")


class VersionText(NamedTuple):
    """What a version is found by."""

    version_id: str
    skill_id: str
    name: str
    description: str
    document: str


class LabelRow(NamedTuple):
    skill_id: str
    kind: str
    label: str
    version_id: str


def heads(session: Session) -> dict[str, int]:
    """`{workspace_id: seq of its newest event}` of all workspaces; for a system transaction."""
    return dict(session.execute(_HEADS).all())


def changed_skills(session: Session, *, workspace_id: str, after: int, upto: int, limit: int) -> tuple[int, set[str]]:
    """Skills that events above `after` speak of, and the event up to which that is all; at most `limit` events are read."""
    names = {"workspace_id": workspace_id, "after": after, "upto": upto, "limit": limit}
    rows = session.execute(_CHANGES, names).all()
    return rows[-1][0] if len(rows) == limit else upto, {skill_id for _, skill_id in rows}


def labelled(session: Session, *, workspace_id: str, skill_ids: Collection[str] | None) -> list[LabelRow]:
    """All labels of the skills (of every skill where None), those of skills and versions that are not served left out."""
    query = (
        select(Label.skill_id, Skill.kind, Label.name, Label.version_id)
        .join(Skill, col(Skill.id) == col(Label.skill_id))
        .where(Skill.workspace_id == workspace_id, Skill.state == "published", ~HELD_LABEL)
        .order_by(Label.skill_id, Label.name)
    )
    if skill_ids is not None:
        query = query.where(col(Skill.id).in_(skill_ids))
    return [LabelRow(*row) for row in session.exec(query)]


def served(session: Session, *, workspace_id: str, label: str, skill_ids: Collection[str]) -> dict[str, Served]:
    """`{skill_id: version under the label now}`, without what is retired or held back."""
    query = (
        select(Version, Skill)
        .join(Label, col(Label.version_id) == col(Version.id))
        .join(Skill, col(Skill.id) == col(Label.skill_id))
        .where(Skill.workspace_id == workspace_id, Label.name == label, Skill.state == "published", ~HELD_LABEL)
        .where(col(Skill.id).in_(skill_ids))
    )
    return {skill.id: Served(version, skill) for version, skill in session.exec(query)}


def texts(session: Session, version_ids: Collection[str]) -> list[VersionText]:
    """What the versions are found by, in order of id."""
    query = (
        select(Version.id, Version.skill_id, Skill.name, Version.description, Version.document)
        .join(Skill, col(Skill.id) == col(Version.skill_id))
        .where(col(Version.id).in_(version_ids))
        .order_by(Version.id)
    )
    return [VersionText(*row) for row in session.exec(query)]


def vectors(session: Session, version_ids: Collection[str], *, fingerprint: str) -> dict[str, np.ndarray]:
    """float32 vectors that are stored for the versions under one model."""
    query = select(Embedding.version_id, Embedding.vector).where(
        Embedding.model_fingerprint == fingerprint, col(Embedding.version_id).in_(version_ids)
    )
    return {version_id: np.asarray(vector, dtype=np.float32) for version_id, vector in session.exec(query)}


def insert_vectors(session: Session, vectors: Mapping[str, np.ndarray], *, workspace_id: str, fingerprint: str) -> None:
    """Keep vectors; those that another replica has stored meanwhile stay as they are."""
    rows = [
        {"version_id": version_id, "model_fingerprint": fingerprint, "workspace_id": workspace_id, "vector": vector}
        for version_id, vector in sorted(vectors.items())
    ]
    session.execute(insert(Embedding).on_conflict_do_nothing(), rows)
