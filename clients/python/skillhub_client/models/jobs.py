"""Background jobs, their attempts, and schedules."""

from datetime import datetime
from typing import Any

from pydantic import Field

from skillhub_client.models.base import Answer


class JobAttempt(Answer):
    """One try: `running`, `succeeded`, `failed`, `vanished` (no sign of life), `cancelled`, `given_back`."""

    number: int
    state: str
    error: str | None = None
    started_at: datetime
    ended_at: datetime | None = None


class Job(Answer):
    """Background work. Final states are `succeeded`, `dead` and `cancelled`; `failed` is tried again after `run_after`."""

    id: str
    kind: str
    state: str
    progress: float = 0.0
    attempt: int = 0
    payload: dict[str, Any] = Field(default_factory=dict)
    log: str = ""
    result: dict[str, Any] | None = None
    error: str | None = None
    created_at: datetime
    run_after: datetime | None = None
    finished_at: datetime | None = None
    attempts: tuple[JobAttempt, ...] = ()
    """Where one job was asked for; lists leave them out."""


class JobList(Answer):
    jobs: list[Job]


class Schedule(Answer):
    """A job that is enqueued at set times."""

    id: str
    name: str
    kind: str
    payload: dict[str, Any] = Field(default_factory=dict)
    cron: str | None = None
    every_seconds: int | None = None
    enabled: bool
    next_run_at: datetime
    last_run_at: datetime | None = None
    last_job_id: str | None = None
    created_at: datetime
