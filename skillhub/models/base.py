"""What all tables share: text ids, UTC times, the workspace they belong to."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Column, Field

from skillhub import tracing


def now() -> datetime:
    return datetime.now(UTC)


def time_field(*, nullable: bool = False, **kwargs: Any) -> Any:
    """A UTC timestamp column; set to now where it may not be null."""
    default = {"default": None} if nullable else {"default_factory": now}
    return Field(sa_type=DateTime(timezone=True), nullable=nullable, **default, **kwargs)


def json_field(default_factory: Any = dict, **kwargs: Any) -> Any:
    """A JSONB column."""
    return Field(default_factory=default_factory, sa_column=Column(JSONB, nullable=False), **kwargs)


def trace_field() -> Any:
    """The `traceparent` of the span that made the row, for the work that goes on from it; null where nothing is traced."""
    return Field(default_factory=tracing.current, sa_type=String, nullable=True)


def workspace_field() -> Any:
    """The tenant; every row belongs to one."""
    return Field(foreign_key="workspace.id", index=True)
