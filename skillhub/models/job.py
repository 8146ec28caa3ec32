"""Background work a person can watch. The broker only carries the id; these rows are the truth."""

from datetime import datetime
from typing import Any

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Column, Field, Index, SQLModel

from skillhub.models.base import json_field, time_field, trace_field, workspace_field


class Job(SQLModel, table=True):
    __table_args__ = (Index("ix_job_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    kind: str
    payload: dict[str, Any] = json_field()
    state: str = Field(default="queued", index=True)
    """`queued`, `running`, `succeeded`, `failed` (will be tried again), `dead`, `cancelled`."""
    attempt: int = 0
    """Raised by each claim before work starts, never lowered; every effect is fenced by it."""
    forgiven: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Attempts that do not count against the limit: those before a retry, and those that a stopping worker gave back."""
    run_after: datetime | None = time_field(nullable=True)
    """No claim before this time: the pause after an attempt that failed."""
    lease_expires_at: datetime | None = time_field(nullable=True)
    announced_at: datetime = time_field()
    """When the broker was last told of it; the sweeper tells it again after a while."""
    progress: float = 0.0
    log: str = ""
    result: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB))
    error: str | None = None
    traceparent: str | None = trace_field()
    created_at: datetime = time_field()
    finished_at: datetime | None = time_field(nullable=True)


class JobAttempt(SQLModel, table=True):
    __tablename__ = "job_attempt"

    job_id: str = Field(foreign_key="job.id", primary_key=True)
    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    workspace_id: str = workspace_field()
    state: str = "running"
    """`running`, `succeeded`, `failed`, `vanished` (no sign of life), `cancelled`, `given_back`."""
    error: str | None = None
    started_at: datetime = time_field()
    ended_at: datetime | None = time_field(nullable=True)
