"""Rollouts as they were recorded: the episode, its steps, and the versions it was shown."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger
from sqlmodel import Field, Index, SQLModel, UniqueConstraint

from skillhub.models.base import json_field, time_field, trace_field, workspace_field


class Episode(SQLModel, table=True):
    __table_args__ = (
        UniqueConstraint("workspace_id", "key"),
        Index("ix_episode_listed", "workspace_id", "id"),
        Index("ix_episode_by_score", "workspace_id", "score", "id"),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    key: str
    """The recorder's own id; sending the same key again stores nothing twice."""
    environment: str
    task: str
    """Text of the task as the policy read it."""
    slice: str = Field(index=True)
    """Kind of task, e.g. the task type of ScienceWorld."""
    split: str = ""
    policy: str = ""
    seed: int | None = Field(default=None, sa_type=BigInteger)
    score: float
    """Outcome in [0, 1]."""
    success: bool
    context_id: str | None = Field(default=None, foreign_key="context.id", index=True)
    trial_id: str | None = Field(default=None, index=True)
    attributes: dict[str, Any] = json_field()
    """The recorder's own fields, e.g. the variation."""
    content_sha256: str
    """Over everything the recorder sent; the same key with other content is refused."""
    traceparent: str | None = trace_field()
    created_at: datetime = time_field()


class Step(SQLModel, table=True):
    episode_id: str = Field(foreign_key="episode.id", primary_key=True)
    index: int = Field(primary_key=True)
    workspace_id: str = workspace_field()
    observation: str
    """What was seen before the action."""
    action: str
    reward: float = 0.0
    score: float = 0.0
    """Cumulative score after the action, in [0, 1]."""


class Exposure(SQLModel, table=True):
    """A version, or a candidate under trial, shown in an episode."""

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    episode_id: str = Field(foreign_key="episode.id", index=True)
    version_id: str | None = Field(default=None, foreign_key="version.id", index=True)
    candidate_id: str | None = Field(default=None, foreign_key="candidate.id", index=True)
    rank: int
    score: float
    from_step: int = 0
