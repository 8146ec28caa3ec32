"""Named lines of candidates: experiments on a skill that go on for more than one step."""

from datetime import datetime

from sqlmodel import Column, Field, ForeignKey, Index, SQLModel, UniqueConstraint

from skillhub.models.base import time_field, workspace_field


class Branch(SQLModel, table=True):
    __table_args__ = (UniqueConstraint("skill_id", "name"), Index("ix_branch_listed", "skill_id", "id"))

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    skill_id: str = Field(foreign_key="skill.id")
    name: str
    base_version_id: str = Field(foreign_key="version.id")
    """The version the line starts from; a merge moves it to the one that was merged in."""
    head_id: str | None = Field(
        default=None, sa_column=Column(ForeignKey("candidate.id", name="branch_head_id_fkey", use_alter=True))
    )
    """The newest candidate on the line; none before the first."""
    state: str = "open"
    """`open` or `closed`."""
    created_by: str
    created_at: datetime = time_field()
    closed_at: datetime | None = time_field(nullable=True)
