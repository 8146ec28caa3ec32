"""Evaluation sets and the tasks in them."""

from datetime import datetime
from typing import Any

from sqlmodel import Field, SQLModel, UniqueConstraint

from skillhub.models.base import json_field, time_field, workspace_field


class Suite(SQLModel, table=True):
    __table_args__ = (UniqueConstraint("workspace_id", "name"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    name: str
    content_sha256: str
    """Over all cases; recorded by every gate that used the suite."""
    created_at: datetime = time_field()


class Case(SQLModel, table=True):
    __table_args__ = (UniqueConstraint("suite_id", "key"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    suite_id: str = Field(foreign_key="suite.id", index=True)
    key: str
    split: str
    """`train`, `dev`, `test` or `confirm`."""
    slice: str
    spec: dict[str, Any] = json_field()
    """What the runner needs to start the task, e.g. `{"task": "boil", "variation": 7}`."""
