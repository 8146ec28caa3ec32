"""SQL of episodes, their steps and what was shown in them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, SQLModel, col, select

from skillhub.models import Candidate, Context, Episode, Exposure, Step, Trial, Version
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = {**BY_TIME, "score": ("score", "id")}
_REFERENCED: dict[str, type[SQLModel]] = {
    "context_id": Context, "trial_id": Trial, "version_id": Version, "candidate_id": Candidate
}  # fmt: skip

_INSERT_STEPS = text("""
INSERT INTO step (workspace_id, episode_id, index, observation, action, reward, score)
SELECT :workspace_id, row.* FROM unnest(
  CAST(:episode_ids AS text[]), CAST(:indexes AS int[]), CAST(:observations AS text[]), CAST(:actions AS text[]),
  CAST(:rewards AS float8[]), CAST(:scores AS float8[])
) AS row
""")


def insert_new(session: Session, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Insert the episodes whose key is not taken; returns the keys that were inserted.

    Rows go in by order of key, so that two batches with the same keys wait for each other and never deadlock.
    """
    statement = insert(Episode).on_conflict_do_nothing(index_elements=["workspace_id", "key"]).returning(col(Episode.key))
    return set(session.execute(statement, sorted(rows, key=lambda row: row["key"])).scalars())


def insert_steps(session: Session, *, workspace_id: str, rows: Sequence[tuple[str, int, str, str, float, float]]) -> None:
    """`(episode_id, index, observation, action, reward, score)` of all new episodes, in one statement."""
    columns = zip(*rows, strict=True)
    names = ("episode_ids", "indexes", "observations", "actions", "rewards", "scores")
    session.execute(_INSERT_STEPS, {"workspace_id": workspace_id} | {name: list(next(columns)) for name in names})


def insert_exposures(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    session.execute(insert(Exposure), rows)


def stored(session: Session, *, workspace_id: str, keys: Collection[str]) -> dict[str, tuple[str, str]]:
    """`{key: (id, content_sha256)}` of the keys that are there."""
    query = select(Episode.key, Episode.id, Episode.content_sha256).where(
        Episode.workspace_id == workspace_id, col(Episode.key).in_(keys)
    )
    return {key: (episode_id, sha256) for key, episode_id, sha256 in session.exec(query)}


def known_ids(session: Session, *, field: str, ids: Collection[str]) -> set[str]:
    """Which of `ids` exist in the workspace; `field` says of what, e.g. `version_id`."""
    identifier = _REFERENCED[field].id
    return set(session.exec(select(identifier).where(identifier.in_(ids))).all())


def get(session: Session, *, workspace_id: str, episode_id: str) -> Episode | None:
    return session.exec(select(Episode).where(Episode.workspace_id == workspace_id, Episode.id == episode_id)).one_or_none()


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Episode]:
    """Episodes with these values."""
    query = keyset.filtered(select(Episode).where(Episode.workspace_id == workspace_id), Episode, filters)
    return keyset.page(session, query, Episode, orders=ORDERS, start=start)


def of_slice(session: Session, *, workspace_id: str, slice: str, split: str | None) -> Sequence[Episode]:
    """All episodes of a slice, oldest first."""
    query = select(Episode).where(Episode.workspace_id == workspace_id, Episode.slice == slice)
    if split is not None:
        query = query.where(Episode.split == split)
    return session.exec(query.order_by(col(Episode.created_at), col(Episode.id))).all()


def steps(session: Session, episode_ids: Collection[str]) -> Sequence[Step]:
    """Steps of the episodes, by episode and index."""
    query = select(Step).where(col(Step.episode_id).in_(episode_ids)).order_by(col(Step.episode_id), col(Step.index))
    return session.exec(query).all()


def exposures(session: Session, episode_id: str) -> Sequence[Exposure]:
    """What was shown in the episode, best rank first."""
    query = select(Exposure).where(Exposure.episode_id == episode_id).order_by(col(Exposure.from_step), col(Exposure.rank))
    return session.exec(query).all()
