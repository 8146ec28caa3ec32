"""One acceptance test of one candidate: what was registered before, its paired trials, and the decision."""

from datetime import datetime
from typing import Any

from sqlmodel import Field, Index, SQLModel, UniqueConstraint

from skillhub.models.base import json_field, time_field, workspace_field


class Gate(SQLModel, table=True):
    """The registration, written before the first trial."""

    __table_args__ = (Index("ix_gate_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    candidate_id: str = Field(foreign_key="candidate.id", unique=True)
    suite_id: str = Field(foreign_key="suite.id", index=True)
    target_slice: str
    protected_slices: list[str] = json_field(list)
    base_version_id: str | None = Field(default=None, foreign_key="version.id")
    base_sha256: str = ""
    companions: list[str] = json_field(list)
    """Ids of the versions that both arms show beside the one under test, as an agent would see it among others."""
    candidate_sha256: str
    suite_sha256: str
    stream_index: int
    """k of e-LOND: which candidate of this suite it is, from 1."""
    alpha: float
    """Error level this candidate got from the suite's budget."""
    policy: dict[str, Any] = json_field()
    """All constants of the test, so that a decision can be replayed."""
    plan: dict[str, Any] = json_field()
    """`{"split", "cases": {slice: [keys]}}`: the cases it may draw, in their order; later cases of the suite are not in it."""
    state: str = Field(default="open", index=True)
    """`open` or `decided`."""
    created_at: datetime = time_field()


class Trial(SQLModel, table=True):
    """One run of one case under one arm. Trials of a pair share case and seed."""

    __table_args__ = (UniqueConstraint("gate_id", "pair", "arm"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    gate_id: str = Field(foreign_key="gate.id", index=True)
    case_id: str = Field(foreign_key="case.id")
    pair: int
    arm: str
    """`base` or `candidate`."""
    seed: int
    """In [0, 2^31); environments that can be seeded start from it."""
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


class Decision(SQLModel, table=True):
    __table_args__ = (Index("ix_decision_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    gate_id: str = Field(foreign_key="gate.id", unique=True)
    candidate_id: str = Field(foreign_key="candidate.id", unique=True)
    verdict: str
    """`accepted`, `rejected`, `undecided` or `error`."""
    reason: str
    """One sentence for people."""
    numbers: dict[str, Any] = json_field()
    """Everything the rule computed, with the pairs it saw."""
    version_id: str | None = Field(default=None, foreign_key="version.id")
    """Version published because of it."""
    created_at: datetime = time_field()
