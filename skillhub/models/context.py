"""What a policy was shown, and the vectors that found it."""

from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import BigInteger
from sqlmodel import Column, Field, Index, SQLModel

from skillhub.models.base import json_field, time_field, workspace_field


class Context(SQLModel, table=True):
    __table_args__ = (Index("ix_context_listed", "workspace_id", "id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    task: str
    label: str
    token_budget: int
    entries: list[dict[str, Any]] = json_field(list)
    """`[{version_id, skill, number, rank, score}]` in the order shown."""
    text: str
    text_sha256: str
    seq: int = Field(sa_type=BigInteger)
    """Event the index had reached."""
    created_at: datetime = time_field()


class Embedding(SQLModel, table=True):
    """Vector of one version under one model."""

    version_id: str = Field(foreign_key="version.id", primary_key=True)
    model_fingerprint: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    vector: Any = Field(sa_column=Column(Vector(), nullable=False))
    created_at: datetime = time_field()
