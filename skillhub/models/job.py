"""Background work a person can watch. The broker only carries the id; this row is the truth."""

from datetime import datetime
from typing import Any

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Column, Field, Index, SQLModel

from skillhub.models.base import json_field, time_field, workspace_field


class Job(SQLModel, table=True):
    __table_args__ = (Index("ix_job_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    kind: str
    payload: dict[str, Any] = json_field()
    state: str = Field(default="queued", index=True)
    """`queued`, `running`, `succeeded`, `failed` (will be tried again), `dead`."""
    attempt: int = 0
    """Raised by each claim before work starts; every effect is fenced by it."""
    lease_expires_at: datetime | None = time_field(nullable=True)
    announced_at: datetime = time_field()
    """When the broker was last told of it; the sweeper tells it again after a while."""
    progress: float = 0.0
    log: str = ""
    result: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB))
    error: str | None = None
    created_at: datetime = time_field()
    finished_at: datetime | None = time_field(nullable=True)
