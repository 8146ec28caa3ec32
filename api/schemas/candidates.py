"""Bodies of candidates."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Json, Name, Text
from api.schemas.skills import Kind, Number
from skillhub.documents.edits import MAX_OPERATIONS
from skillhub.documents.skillmd import MAX_DOCUMENT_BYTES
from skillhub.models import Decision
from skillhub.services.candidates import CandidateInput, CandidateView, EvidenceInput

MAX_EVIDENCE = 1000
MAX_EPISODES = 1000
Rationale = Annotated[Text, Field(max_length=10_000)]
CandidateState = Literal["proposed", "gated", "accepted", "rejected", "undecided", "error"]


class EvidenceIn(Body):
    anchor: Annotated[Text, Field(max_length=500)]
    claim: Annotated[Text, Field(max_length=4000)]
    polarity: Literal[1, -1] = 1
    weight: float = Field(default=1.0, ge=0, le=1e9, allow_inf_nan=False)
    episode_ids: list[Name] = Field(default=[], max_length=MAX_EPISODES)

    def input(self) -> EvidenceInput:
        return EvidenceInput(**self.model_dump(exclude={"episode_ids"}), episode_ids=tuple(self.episode_ids))


class ProposalIn(Body):
    """What is proposed, and why."""

    document: str | None = Field(default=None, max_length=MAX_DOCUMENT_BYTES, description="SKILL.md in full")
    operations: list[Json] = Field(default=[], max_length=MAX_OPERATIONS)
    proposer: Name
    rationale: Rationale = ""
    target_slice: Name
    evidence: list[EvidenceIn] = Field(default=[], max_length=MAX_EVIDENCE)

    def facts(self) -> dict[str, Any]:
        """The arguments of the use case."""
        evidence = tuple(item.input() for item in self.evidence)
        facts = self.model_dump(exclude={"evidence", "operations"})
        return facts | {"operations": tuple(self.operations), "evidence": evidence}


class CandidateIn(ProposalIn):
    skill_name: Annotated[Text, Field(max_length=256)]
    kind: Kind = "skill"
    base: Number | None = Field(default=None, description="Number of the version it would replace")

    def input(self) -> CandidateInput:
        return CandidateInput(**self.facts())


class EvidenceOut(BaseModel):
    id: str
    anchor: str
    claim: str
    polarity: int
    weight: float
    state: str
    episode_ids: list[str]


class DecisionOut(BaseModel):
    id: str
    gate_id: str
    candidate_id: str
    verdict: str
    reason: str
    numbers: dict[str, Any]
    version_id: str | None
    created_at: datetime

    @classmethod
    def of(cls, decision: Decision) -> "DecisionOut":
        return cls(**decision.model_dump(exclude={"workspace_id"}))


class CandidateOut(BaseModel):
    id: str
    skill_name: str
    kind: str
    base_version_id: str | None
    branch_id: str | None
    previous_id: str | None = Field(description="The candidate before it on its branch")
    operations: list[dict[str, Any]]
    document: str
    content_sha256: str
    state: str
    target_slice: str
    proposer: str
    rationale: str
    evidence: list[EvidenceOut]
    gate_id: str | None
    decision: DecisionOut | None
    created_at: datetime
    decided_at: datetime | None

    @classmethod
    def of(cls, view: CandidateView) -> "CandidateOut":
        evidence = [EvidenceOut(**row.model_dump(), episode_ids=ids) for row, ids in view.evidence]
        return cls(
            **view.candidate.model_dump(exclude={"workspace_id"}),
            evidence=evidence,
            gate_id=view.gate_id,
            decision=DecisionOut.of(view.decision) if view.decision else None,
        )
