"""Bodies of background jobs and of what starts them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Name
from skillhub.models import Job

MAX_SLICES = 200


class ExtractIn(Body):
    slices: list[Name] = Field(min_length=1, max_length=MAX_SLICES)
    split: Literal["train", ""] = "train"
    """Training episodes, or those recorded without a split. The other splits are for the proof and never read."""


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
    finished_at: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobOut":
        return cls(**job.model_dump(exclude={"workspace_id", "lease_expires_at", "announced_at"}))


class JobsOut(BaseModel):
    jobs: list[JobOut]
