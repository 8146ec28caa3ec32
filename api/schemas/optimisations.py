"""Bodies of optimisations."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Json, Name, Text
from api.schemas.candidates import Rationale
from skillhub.documents.edits import MAX_OPERATIONS
from skillhub.documents.skillmd import MAX_DOCUMENT_BYTES
from skillhub.models import OptimisationStep
from skillhub.optimise.asks import OPERATORS, Proposal, Propose
from skillhub.services.optimisations import OptimisationView

MAX_BUDGET = 100_000
MAX_PROPOSALS = 64
OptimisationState = Literal["running", "finished", "cancelled", "failed"]
StepKind = Literal["probe", "propose", "commit"]


class OptimisationIn(Body):
    skill: Annotated[Text, Field(max_length=256)]
    suite: Name
    budget: int = Field(ge=1, le=MAX_BUDGET, description="Trials it may pay, of screen and gate together")
    proposer: Name
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    policy: Json | None = Field(default=None, description="Constants of the search that differ from the defaults")
    gate_policy: Json | None = Field(default=None, description="Constants of its gates that differ from the defaults")


class ProposalIn(Body):
    """A repair: edit operations on the document that was asked about, or that document as it should be."""

    targets: list[Name] = Field(min_length=1, max_length=100, description="Slices that it should help")
    operations: list[Json] = Field(default=[], max_length=MAX_OPERATIONS)
    document: str | None = Field(default=None, max_length=MAX_DOCUMENT_BYTES)
    operator: Literal[OPERATORS] = "refine"
    rationale: Rationale = ""

    def proposal(self, base: str) -> Proposal:
        facts = {"operator": self.operator, "rationale": self.rationale, "targets": tuple(self.targets)}
        return Proposal(**facts, operations=tuple(self.operations), document=self.document, base=base)


class ProposalsIn(Body):
    proposals: list[ProposalIn] = Field(max_length=MAX_PROPOSALS, description="None: the search ends")


class AskedOut(BaseModel):
    """What repairs are asked for."""

    document: str
    failures: dict[str, int] = Field(description="Slice -> how strongly it fails, from 0 to 10")
    count: int

    @classmethod
    def of(cls, ask: Propose) -> "AskedOut":
        return cls(document=ask.document, failures=dict(ask.failures), count=ask.count)


class OptimisationOut(BaseModel):
    id: str
    skill: str
    suite: str
    state: str
    reason: str = Field(description="Why it ended")
    waits_for: str | None = Field(description="`probe`: screening trials; `propose`: proposals; `commit`: a gate; null: over")
    base: int = Field(description="Number of the version that its next candidate would replace")
    budget: int
    spent: int
    proposer: str
    seed: int
    policy: dict[str, Any]
    gate_policy: dict[str, Any]
    created_by: str
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, view: OptimisationView) -> "OptimisationOut":
        hidden = {"workspace_id", "skill_id", "suite_id", "base_version_id", "start_document", "cases", "traceparent"}
        names = {"skill": view.skill.name, "suite": view.suite.name, "base": view.base.number, "waits_for": view.waits_for}
        return cls(**view.optimisation.model_dump(exclude=hidden), **names)


class StepOut(BaseModel):
    """One ask of a search, and its answer; a document stands by its hash."""

    position: int
    kind: str
    ask: dict[str, Any]
    answer: dict[str, Any] | None
    candidate_id: str | None
    created_at: datetime
    answered_at: datetime | None

    @classmethod
    def of(cls, step: OptimisationStep) -> "StepOut":
        return cls(**step.model_dump(exclude={"optimisation_id", "workspace_id"}))
