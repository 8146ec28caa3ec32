"""A job that is enqueued again and again, at times that PostgreSQL holds."""

from datetime import datetime
from typing import Any

from sqlmodel import Field, SQLModel, UniqueConstraint

from skillhub.models.base import json_field, time_field, workspace_field


class Schedule(SQLModel, table=True):
    __table_args__ = (UniqueConstraint("workspace_id", "name"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    name: str
    cron: str | None = None
    """Five fields, UTC; or else `every_seconds`."""
    every_seconds: int | None = None
    kind: str
    payload: dict[str, Any] = json_field()
    """Kind and input of the job."""
    enabled: bool = True
    next_run_at: datetime = time_field(index=True)
    last_run_at: datetime | None = time_field(nullable=True)
    last_job_id: str | None = Field(default=None, foreign_key="job.id")
    created_at: datetime = time_field()
