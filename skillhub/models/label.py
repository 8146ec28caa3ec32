"""Movable pointers to versions; every move is an event."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from skillhub.models.base import time_field, workspace_field


class Label(SQLModel, table=True):
    skill_id: str = Field(foreign_key="skill.id", primary_key=True)
    name: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    version_id: str = Field(foreign_key="version.id", index=True)
    revision: int = 1
    """Counts the moves; the ETag of a label."""
    moved_at: datetime = time_field()
