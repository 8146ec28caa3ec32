"""Bodies of leased trials."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, Field

from api.schemas.base import Body, Name, Text
from api.schemas.episodes import EpisodeIn
from skillhub.services.trials import LeasedTrial, TrialView

MAX_LEASED = 64
SCREENED = {"gate_id": None, "arm": "draft"}
"""What a screening trial has in place of a gate."""


class LeaseIn(Body):
    runner: Name
    limit: int = Field(default=1, ge=1, le=MAX_LEASED)
    suites: list[Name] | None = Field(default=None, max_length=200, description="Default: all suites")


class HeartbeatIn(Body):
    lease_token: Name


class FinishIn(Body):
    lease_token: Name
    score: float = Field(description="In [0, 1]; anything else is refused with the trial's id")
    episode: EpisodeIn | None = None


class FailIn(Body):
    lease_token: Name
    error: Annotated[Text, Field(min_length=1, max_length=4000)]


class TrialCaseOut(BaseModel):
    key: str
    slice: str
    spec: dict[str, Any]


class ShownDocumentOut(BaseModel):
    skill_name: str
    kind: str
    version_id: str | None
    candidate_id: str | None
    document: str


class LeasedTrialOut(BaseModel):
    id: str
    lease_token: str
    lease_seconds: float
    gate_id: str | None = Field(description="Null where it screens a draft of an optimisation")
    pair: int
    arm: str = Field(description="`base` or `candidate` of a gate, or `draft`")
    seed: int
    case: TrialCaseOut
    documents: list[ShownDocumentOut]

    @classmethod
    def of(cls, leased: LeasedTrial, *, lease_seconds: float) -> "LeasedTrialOut":
        trial, case = leased.trial, leased.case
        return cls(
            **SCREENED | trial.model_dump(include={"id", "lease_token", "gate_id", "pair", "arm", "seed"}),
            lease_seconds=lease_seconds,
            case=TrialCaseOut(key=case.key, slice=case.slice, spec=case.spec),
            documents=[ShownDocumentOut(**asdict(shown)) for shown in leased.documents],
        )


class LeasedTrialsOut(BaseModel):
    trials: list[LeasedTrialOut]


class TrialOut(BaseModel):
    id: str
    gate_id: str | None
    pair: int
    arm: str
    state: str
    attempt: int
    score: float | None
    episode_id: str | None
    gate_state: str | None

    @classmethod
    def of(cls, view: TrialView) -> "TrialOut":
        return cls(**SCREENED | view.trial.model_dump(), gate_state=view.gate.state if view.gate else None)
