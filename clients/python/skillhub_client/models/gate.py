"""Suites, candidates, gates, trials."""

from datetime import datetime
from typing import Any

from pydantic import Field

from skillhub_client.models.base import Answer, Input
from skillhub_client.models.episodes import EpisodeIn


class CaseIn(Input):
    """One task of a suite; `spec` is what the runner needs to play it."""

    key: str
    split: str
    slice: str
    spec: dict[str, Any]


class Case(Answer):
    """A task of a suite as it is stored."""

    id: str
    key: str
    split: str
    slice: str
    spec: dict[str, Any]


class Suite(Answer):
    id: str
    name: str
    content_sha256: str
    cases: int


class EvidenceIn(Input):
    """A claim drawn from episodes about a section (`anchor`)."""

    anchor: str
    claim: str
    polarity: int
    weight: float = 1.0
    episode_ids: list[str] = Field(default_factory=list)


class Decision(Answer):
    """The verdict (`accepted`, `rejected`, `undecided`, `error`), one sentence on why, and all numbers."""

    verdict: str
    reason: str
    numbers: dict[str, Any] = Field(default_factory=dict)
    version_id: str | None = None
    """Version published because of it."""


class Replay(Answer):
    """A decision made once more from the stored trials; `same` where verdict and all numbers are."""

    same: bool
    decision: Decision
    verdict: str
    reason: str
    numbers: dict[str, Any] = Field(default_factory=dict)


class Candidate(Answer):
    """A proposed new version."""

    id: str
    skill_name: str
    kind: str
    base_version_id: str | None = None
    branch_id: str | None = None
    previous_id: str | None = None
    """The candidate before it on its branch."""
    document: str
    state: str
    target_slice: str
    proposer: str
    rationale: str = ""
    evidence: tuple[dict[str, Any], ...] = ()
    gate_id: str | None = None
    decision: Decision | None = None
    created_at: datetime


class GateTrial(Answer):
    """One run of a gate, as its page shows it."""

    id: str
    pair: int
    arm: str
    case_key: str
    slice: str
    seed: int
    state: str
    attempt: int
    score: float | None = None
    episode_id: str | None = None
    error: str | None = None


class Gate(Answer):
    """One acceptance test: what was registered, the numbers so far, and the decision once there is one."""

    id: str
    candidate_id: str
    state: str
    alpha: float
    stream_index: int
    policy: dict[str, Any] = Field(default_factory=dict)
    base_version_id: str | None = None
    target_slice: str
    protected_slices: tuple[str, ...] = ()
    numbers: dict[str, Any] = Field(default_factory=dict)
    reason: str = ""
    """Where the test stands, in one sentence."""
    trials: tuple[GateTrial, ...] = ()
    decision: Decision | None = None


class TrialCase(Answer):
    key: str
    slice: str
    spec: dict[str, Any]


class ShownDocument(Answer):
    """A document of a trial's arm."""

    skill_name: str
    kind: str
    version_id: str | None = None
    candidate_id: str | None = None
    document: str


class TrialLease(Answer):
    """One run to be made: a case under one arm. The base arm of a new skill shows no documents."""

    id: str
    lease_token: str
    lease_seconds: float
    gate_id: str | None = None
    pair: int
    arm: str
    seed: int
    case: TrialCase
    documents: tuple[ShownDocument, ...] = ()


class LeasedTrials(Answer):
    trials: list[TrialLease]


class Trial(Answer):
    """A trial after its report; `gate_state` is `decided` where this report ended the test."""

    id: str
    gate_id: str | None = None
    """None where it screened a draft of an optimisation."""
    state: str
    score: float | None = None
    episode_id: str | None = None
    gate_state: str | None = None


class TrialResult(Input):
    """What a run gave: a score in [0, 1] and, where recorded, its episode."""

    score: float
    episode: EpisodeIn | None = None


class Health(Answer):
    status: str
