"""The append-only, hash-chained log of a workspace; `seq` is the change token."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger
from sqlmodel import Field, Index, SQLModel

from skillhub.models.base import json_field, time_field


class Event(SQLModel, table=True):
    __table_args__ = (Index("ix_event_subject", "workspace_id", "subject_id", "seq"),)

    workspace_id: str = Field(foreign_key="workspace.id", primary_key=True)
    seq: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs={"autoincrement": False})
    """1, 2, 3, ... without a gap in each workspace."""
    kind: str
    """Noun and past participle, e.g. `version.published`, `label.moved`, `skill.retired`."""
    subject_id: str
    """Id of what changed."""
    payload: dict[str, Any] = json_field()
    actor: str
    created_at: datetime = time_field()
    prev_sha256: str
    """`sha256` of the event before; 64 zeros for the first."""
    sha256: str
