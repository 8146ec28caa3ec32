"""Searches for a better version of a skill: what was asked of the world, what it answered, and the screening trials."""

from datetime import datetime
from typing import Any

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Column, Field, Index, SQLModel

from skillhub.models.base import json_field, time_field, trace_field, workspace_field


class Optimisation(SQLModel, table=True):
    """One search, on a budget of trials."""

    __table_args__ = (Index("ix_optimisation_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    skill_id: str = Field(foreign_key="skill.id", index=True)
    suite_id: str = Field(foreign_key="suite.id", index=True)
    base_version_id: str = Field(foreign_key="version.id")
    """What is in production as far as the search knows; a commit moves it."""
    start_document: str
    cases: dict[str, list[str]] = json_field()
    """Slice -> keys of the cases it may screen, as the suite was at its start."""
    proposer: str
    budget: int
    """Trials it may pay, of the screen and of the gate together."""
    spent: int = 0
    seed: int
    policy: dict[str, Any] = json_field()
    """All constants of the search."""
    gate_policy: dict[str, Any] = json_field()
    """Constants of its gates that differ from the defaults."""
    state: str = Field(default="running", index=True)
    """`running`, `finished`, `cancelled` or `failed`."""
    reason: str = ""
    """Why it ended, for people."""
    traceparent: str | None = trace_field()
    created_by: str
    created_at: datetime = time_field()
    finished_at: datetime | None = time_field(nullable=True)


class OptimisationStep(SQLModel, table=True):
    """One ask of the search and its answer: together the journal from which a search that was killed goes on."""

    __tablename__ = "optimisation_step"

    optimisation_id: str = Field(foreign_key="optimisation.id", primary_key=True)
    position: int = Field(primary_key=True)
    workspace_id: str = workspace_field()
    kind: str
    """`probe`, `propose` or `commit`."""
    ask: dict[str, Any] = json_field()
    """A document in it stands by its hash."""
    answer: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    candidate_id: str | None = Field(default=None, foreign_key="candidate.id", index=True)
    """Of a commit."""
    created_at: datetime = time_field()
    answered_at: datetime | None = time_field(nullable=True)


class OptimisationDraft(SQLModel, table=True):
    """A document that a search tried."""

    __tablename__ = "optimisation_draft"

    optimisation_id: str = Field(foreign_key="optimisation.id", primary_key=True)
    sha256: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    document: str


class ScreeningTrial(SQLModel, table=True):
    """One run of one case with a draft. It proves nothing: the gate has trials of its own."""

    __tablename__ = "screening_trial"
    __table_args__ = (Index("ix_screening_trial_step", "optimisation_id", "position"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    optimisation_id: str = Field(foreign_key="optimisation.id")
    position: int
    """Of the step that asked for it."""
    pair: int
    """Which of the step's runs it is, from 0."""
    sha256: str
    """Of the draft."""
    case_id: str = Field(foreign_key="case.id")
    seed: int
    state: str = Field(default="pending", index=True)
    """`pending`, `leased`, `finished`, `failed` or `cancelled`."""
    attempt: int = 0
    lease_token: str | None = None
    lease_expires_at: datetime | None = time_field(nullable=True)
    runner: str = ""
    score: float | None = None
    episode_id: str | None = Field(default=None, foreign_key="episode.id")
    error: str | None = None
    finished_at: datetime | None = time_field(nullable=True)
