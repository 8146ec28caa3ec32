"""Answers already given, so that a retried POST gets the same answer and does nothing twice."""

from datetime import datetime
from typing import Any

from sqlmodel import Field, Index, SQLModel

from skillhub.models.base import json_field, time_field


class IdempotencyRecord(SQLModel, table=True):
    __tablename__ = "idempotency_record"
    __table_args__ = (Index("ix_idempotency_record_created_at", "created_at"),)

    workspace_id: str = Field(foreign_key="workspace.id", primary_key=True)
    key: str = Field(primary_key=True)
    request_sha256: str
    """Over method, path and body; another request under the same key is refused."""
    status: int
    body: dict[str, Any] = json_field()
    created_at: datetime = time_field()
