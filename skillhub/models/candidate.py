"""Proposed versions."""

from datetime import datetime
from typing import Any

from sqlmodel import Field, Index, SQLModel

from skillhub.models.base import json_field, time_field, trace_field, workspace_field


class Candidate(SQLModel, table=True):
    __table_args__ = (Index("ix_candidate_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    skill_name: str = Field(index=True)
    kind: str
    base_version_id: str | None = Field(default=None, foreign_key="version.id")
    """Version it would replace; none where the skill is new."""
    branch_id: str | None = Field(default=None, foreign_key="branch.id", index=True)
    """The line it stands on, where it stands on one."""
    previous_id: str | None = Field(default=None, foreign_key="candidate.id", index=True)
    """The candidate before it on its branch."""
    operations: list[dict[str, Any]] = json_field(list)
    """Edit operations against the candidate before it, else the base; empty where the whole document is proposed."""
    document: str
    """SKILL.md as it would be published."""
    content_sha256: str
    proposer: str
    rationale: str = ""
    target_slice: str
    state: str = Field(default="proposed", index=True)
    """`proposed`, `gated` (under trial), then the verdict: `accepted`, `rejected`, `undecided`, `error`."""
    traceparent: str | None = trace_field()
    created_at: datetime = time_field()
    decided_at: datetime | None = time_field(nullable=True)
