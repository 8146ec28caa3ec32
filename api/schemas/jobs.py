"""Bodies of background jobs and of what starts them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Name
from skillhub.models import Job
from skillhub.services.job_control import JobView

MAX_SLICES = 200
MAX_RETRIED = 200


class ExtractIn(Body):
    slices: list[Name] = Field(min_length=1, max_length=MAX_SLICES)
    split: Literal["train", ""] = "train"
    """Training episodes, or those recorded without a split. The other splits are for the proof and never read."""


class RetryIn(Body):
    ids: list[Name] = Field(min_length=1, max_length=MAX_RETRIED)


class JobOut(BaseModel):
    id: str
    kind: str
    payload: dict[str, Any]
    state: str
    attempt: int
    progress: float
    log: str
    result: dict[str, Any] | None
    error: str | None
    created_at: datetime
    run_after: datetime | None
    """Not tried again before this time."""
    finished_at: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobOut":
        return cls(**job.model_dump(exclude={"workspace_id", "lease_expires_at", "announced_at", "forgiven"}))


class AttemptOut(BaseModel):
    number: int
    state: str
    error: str | None
    started_at: datetime
    ended_at: datetime | None


class JobWithAttemptsOut(JobOut):
    attempts: list[AttemptOut]

    @classmethod
    def with_attempts(cls, view: JobView) -> "JobWithAttemptsOut":
        attempts = [AttemptOut(**one.model_dump(exclude={"job_id", "workspace_id"})) for one in view.attempts]
        return cls(**JobOut.of(view.job).model_dump(), attempts=attempts)


class JobsOut(BaseModel):
    jobs: list[JobOut]
