"""Episodes, search, contexts."""

from datetime import datetime
from typing import Any

from pydantic import Field

from skillhub_client.models.base import Answer, Input


class StepIn(Input):
    """One turn: what was seen before the action, the action, its reward and the score after it in [0, 1]."""

    observation: str
    action: str
    reward: float = 0.0
    score: float = 0.0


class ExposureIn(Input):
    """A version, or a candidate under trial, shown in the episode."""

    version_id: str | None = None
    candidate_id: str | None = None
    rank: int = 0
    score: float = 0.0
    from_step: int = 0


class EpisodeIn(Input):
    """One rollout. `key` is the recorder's own id: sending it again stores nothing twice. `score` in [0, 1]."""

    key: str
    environment: str
    task: str
    slice: str
    split: str = ""
    policy: str = ""
    seed: int | None = None
    score: float
    success: bool
    context_id: str | None = None
    trial_id: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    steps: list[StepIn] = Field(default_factory=list)
    exposures: list[ExposureIn] = Field(default_factory=list)


class Ingested(Answer):
    key: str
    id: str
    created: bool


class IngestResult(Answer):
    results: list[Ingested]


class Episode(Answer):
    """A stored rollout; lists come without steps and exposures."""

    id: str
    key: str
    environment: str
    task: str
    slice: str
    split: str = ""
    policy: str = ""
    seed: int | None = None
    score: float
    success: bool
    context_id: str | None = None
    trial_id: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime
    steps: list[dict[str, Any]] | None = None
    exposures: list[dict[str, Any]] | None = None


class Hit(Answer):
    version_id: str
    skill: str
    kind: str
    number: int
    description: str
    rank: int
    score: float
    parts: dict[str, float | None] | None = None


class SearchResult(Answer):
    hits: list[Hit]
    seq: int


class Found(Answer):
    """A version that was found for a task."""

    version_id: str
    skill: str
    kind: str
    number: int
    rank: int
    score: float


class ContextEntry(Found):
    """A version that is shown."""

    document: str


class Context(Answer):
    """What a policy is shown for one task."""

    context_id: str
    task: str
    text: str
    entries: list[ContextEntry]
    tokens: int
    omitted: tuple[Found, ...] = ()
    """Found, but too long for the token budget."""


class KeptContext(Answer):
    """A context as it was shown; `entries` name the versions in their order."""

    id: str
    task: str
    label: str
    token_budget: int
    entries: list[dict[str, Any]]
    text: str
    text_sha256: str
    seq: int
    created_at: datetime


class ContextBatch(Answer):
    contexts: list[Context]
    seq: int
