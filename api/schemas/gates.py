"""Bodies of acceptance tests."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Json, Name
from api.schemas.candidates import DecisionOut
from skillhub.models import Case, Gate, Trial
from skillhub.services.gates import GateInput, GateView, Replay

MAX_SLICES = 50


class GateIn(Body):
    suite: Name
    split: Literal["dev", "test", "confirm"] = "dev"
    target_slice: Name | None = Field(default=None, description="Default: the slice that the candidate declared")
    protected_slices: list[Name] | None = Field(default=None, max_length=MAX_SLICES, description="Default: the target slice")
    companions: list[Name] = Field(
        default=[], max_length=MAX_SLICES, description="Skills whose `production` version both arms show as well"
    )
    policy: Json | None = Field(default=None, description="Constants that differ from the defaults")

    def input(self, candidate_id: str) -> GateInput:
        facts = self.model_dump(exclude={"protected_slices", "companions"})
        protected = tuple(self.protected_slices) if self.protected_slices else None
        return GateInput(candidate_id=candidate_id, protected_slices=protected, companions=tuple(self.companions), **facts)


class GateTrialOut(BaseModel):
    id: str
    pair: int
    arm: str
    case_key: str
    slice: str
    seed: int
    state: str
    attempt: int
    score: float | None
    episode_id: str | None
    error: str | None
    finished_at: datetime | None

    @classmethod
    def of(cls, trial: Trial, case: Case) -> "GateTrialOut":
        hidden = {"workspace_id", "gate_id", "case_id", "lease_token", "lease_expires_at", "runner"}
        return cls(**trial.model_dump(exclude=hidden), case_key=case.key, slice=case.slice)


class RegisteredGateOut(BaseModel):
    """What was registered before the first trial."""

    id: str
    candidate_id: str
    suite_id: str
    state: str
    target_slice: str
    protected_slices: list[str]
    split: str
    alpha: float
    stream_index: int
    policy: dict[str, Any]
    base_version_id: str | None
    base_sha256: str
    companions: list[str]
    candidate_sha256: str
    suite_sha256: str
    created_at: datetime

    @classmethod
    def facts(cls, gate: Gate) -> dict[str, Any]:
        return gate.model_dump(exclude={"workspace_id", "plan"}) | {"split": gate.plan["split"]}

    @classmethod
    def of_row(cls, gate: Gate) -> "RegisteredGateOut":
        return cls(**cls.facts(gate))


class GateOut(RegisteredGateOut):
    numbers: dict[str, Any]
    reason: str
    """Where the test stands, in one sentence."""
    trials: list[GateTrialOut]
    decision: DecisionOut | None

    @classmethod
    def of(cls, view: GateView) -> "GateOut":
        return cls(
            **cls.facts(view.gate),
            numbers=view.verdict.numbers,
            reason=view.verdict.reason,
            trials=[GateTrialOut.of(trial, case) for trial, case in view.trials],
            decision=DecisionOut.of(view.decision) if view.decision else None,
        )


class ReplayOut(BaseModel):
    """A decision made once more from the stored trials."""

    same: bool = Field(description="Whether verdict and all numbers are the same, bit for bit")
    decision: DecisionOut
    verdict: str
    reason: str
    numbers: dict[str, Any]

    @classmethod
    def of(cls, replay: Replay) -> "ReplayOut":
        verdict = replay.verdict
        facts = {"verdict": verdict.state, "reason": verdict.reason, "numbers": verdict.numbers}
        return cls(same=replay.same, decision=DecisionOut.of(replay.decision), **facts)
