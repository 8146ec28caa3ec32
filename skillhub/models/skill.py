"""A named document an agent reads; its content is in its versions."""

from datetime import datetime

from sqlmodel import Field, Index, SQLModel, UniqueConstraint

from skillhub.models.base import time_field


class Skill(SQLModel, table=True):
    __table_args__ = (UniqueConstraint("workspace_id", "name"), Index("ix_skill_listed", "workspace_id", "id"))

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspace.id")  # the unique constraint is its index
    name: str
    kind: str
    """`skill`, `rule` or `harness`."""
    state: str = "published"
    """`published`, `quarantined` (until it is released) or `retired`; only a published skill is served to an agent."""
    last_number: int = 0
    """Number of the newest version; its row lock hands out the next one without gaps."""
    created_at: datetime = time_field()
    retired_at: datetime | None = time_field(nullable=True)
