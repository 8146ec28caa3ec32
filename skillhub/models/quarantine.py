"""Versions that are held back. A version is immutable, so that it is held back stands here, for as long as it does."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from skillhub.models.base import time_field, workspace_field


class Quarantine(SQLModel, table=True):
    version_id: str = Field(foreign_key="version.id", primary_key=True)
    workspace_id: str = workspace_field()
    reason: str
    held_by: str
    held_at: datetime = time_field()
