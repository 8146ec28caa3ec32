"""Searches for a better version of a skill."""

from datetime import datetime
from typing import Any

from pydantic import Field

from skillhub_client.models.base import Answer


class Optimisation(Answer):
    """A search; `waits_for` is `probe`, `propose`, `commit`, or None where it is over."""

    id: str
    skill: str
    suite: str
    state: str
    reason: str = ""
    waits_for: str | None = None
    base: int
    budget: int
    spent: int
    proposer: str
    seed: int
    policy: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime
    finished_at: datetime | None = None


class OptimisationStep(Answer):
    """One ask of a search, and its answer."""

    position: int
    kind: str
    ask: dict[str, Any]
    answer: dict[str, Any] | None = None
    candidate_id: str | None = None


class Asked(Answer):
    """What repairs are asked for: the document, and slice -> how strongly it fails."""

    document: str
    failures: dict[str, int]
    count: int
