"""Bodies of the episodes' routes. Ranges and sizes are checked once, in `skillhub.rollouts.ingest`, for every way in."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from api.schemas.base import Body, Mended, Text
from skillhub.models import Episode, Exposure, Step
from skillhub.rollouts.ingest import EpisodeInput, ExposureInput
from skillhub.rollouts.trace import TraceStep

MAX_BATCH = 500


class StepIn(Body):
    observation: Mended = Field(description="What was seen before the action")
    action: Mended
    reward: float = 0.0
    score: float = Field(default=0.0, description="Cumulative score after the action, in [0, 1]")


class ExposureIn(Body):
    """A version, or a candidate under trial, that the policy was shown."""

    version_id: Text | None = None
    candidate_id: Text | None = None
    rank: int
    score: float
    from_step: int = 0


class EpisodeIn(Body):
    key: Text = Field(description="The recorder's own id; the same key is stored once")
    environment: Text
    task: Mended = Field(description="Text of the task as the policy read it")
    slice: Text = Field(description="Kind of task")
    split: Text = ""
    policy: Text = ""
    seed: int | None = None
    score: float = Field(description="Outcome in [0, 1]")
    success: bool
    context_id: Text | None = None
    trial_id: Text | None = None
    attributes: dict[str, Any] = Field(default={})
    steps: list[StepIn] = Field(default=[])
    exposures: list[ExposureIn] = Field(default=[])

    def value(self) -> EpisodeInput:
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in ("steps", "exposures")}
        steps = tuple(TraceStep(step.observation, step.action, step.reward, step.score) for step in self.steps)
        exposures = tuple(ExposureInput(**exposure.model_dump()) for exposure in self.exposures)
        return EpisodeInput(**fields, steps=steps, exposures=exposures)


class EpisodeBatchIn(Body):
    episodes: list[EpisodeIn] = Field(max_length=MAX_BATCH)


class IngestedOut(BaseModel):
    key: str
    id: str
    created: bool = Field(description="False where the same episode was stored before")


class EpisodeBatchOut(BaseModel):
    results: list[IngestedOut]


class EpisodeOut(BaseModel):
    id: str
    key: str
    environment: str
    task: str
    slice: str
    split: str
    policy: str
    seed: int | None
    score: float
    success: bool
    context_id: str | None
    trial_id: str | None
    attributes: dict[str, Any]
    created_at: datetime

    @classmethod
    def of(cls, episode: Episode) -> "EpisodeOut":
        return cls.model_validate(episode, from_attributes=True)


class StepOut(BaseModel):
    index: int
    observation: str
    action: str
    reward: float
    score: float


class ExposureOut(BaseModel):
    version_id: str | None
    candidate_id: str | None
    rank: int
    score: float
    from_step: int


class EpisodeDetailOut(EpisodeOut):
    """An episode with its steps and what was shown in it."""

    steps: list[StepOut]
    exposures: list[ExposureOut]

    @classmethod
    def whole(cls, episode: Episode, steps: list[Step], exposures: list[Exposure]) -> "EpisodeDetailOut":
        parts = {"steps": [step.model_dump() for step in steps], "exposures": [each.model_dump() for each in exposures]}
        return cls.model_validate(episode.model_dump() | parts)
