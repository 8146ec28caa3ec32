"""Bodies of schedules."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Name
from api.schemas.jobs import ExtractIn
from skillhub.models import Schedule
from skillhub.services.schedules import ScheduleInput

LEAST_SECONDS = 60
MOST_SECONDS = 366 * 24 * 3600


class ScheduleIn(Body):
    kind: Literal["curation.extract_skills", "curation.extract_rules"]
    payload: ExtractIn
    """Input of the job; `curation.extract_skills` takes one slice."""
    cron: Name | None = None
    """Minute, hour, day, month, weekday; UTC."""
    every_seconds: int | None = Field(default=None, ge=LEAST_SECONDS, le=MOST_SECONDS)
    enabled: bool = True

    def input(self) -> ScheduleInput:
        return ScheduleInput(**self.model_dump())


class ScheduleOut(BaseModel):
    id: str
    name: str
    kind: str
    payload: dict[str, Any]
    cron: str | None
    every_seconds: int | None
    enabled: bool
    next_run_at: datetime
    last_run_at: datetime | None
    last_job_id: str | None
    created_at: datetime

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleOut":
        return cls(**schedule.model_dump(exclude={"workspace_id"}))
