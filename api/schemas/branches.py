"""Bodies of branches."""

from datetime import datetime

from pydantic import BaseModel, Field

from api.schemas.base import Body, Handle, Name
from api.schemas.candidates import ProposalIn, Rationale
from api.schemas.skills import Number
from skillhub.services.branches import BranchView


class BranchIn(Body):
    name: Handle
    base: Number | None = Field(default=None, description="Version it starts from; without it what is in production")


class BranchCandidateIn(ProposalIn):
    """The next candidate: a whole document, or operations against that of the head."""

    head: Name | None = Field(default=None, description="Id of the newest candidate you have read; null before the first")


class BranchMergeIn(Body):
    proposer: Name
    rationale: Rationale = ""


class BranchOut(BaseModel):
    id: str
    skill: str
    name: str
    state: str
    base: int = Field(description="Number of the version the line starts from; a merge moves it")
    base_version_id: str
    head_id: str | None = Field(description="The newest candidate on it; null before the first")
    created_by: str
    created_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, view: BranchView) -> "BranchOut":
        facts = view.branch.model_dump(exclude={"workspace_id", "skill_id"})
        return cls(**facts, skill=view.skill.name, base=view.base.number)
