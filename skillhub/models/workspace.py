"""Workspaces (tenants) and the API keys that open them."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from skillhub.models.base import json_field, time_field, workspace_field


class Workspace(SQLModel, table=True):
    id: str = Field(primary_key=True)
    name: str = Field(unique=True)
    created_at: datetime = time_field()


class ApiKey(SQLModel, table=True):
    __tablename__ = "api_key"

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    name: str
    prefix: str
    """First characters of the key, shown to people."""
    key_hmac: str = Field(unique=True)
    """HMAC-SHA256 of the key under the server's secret; the key itself is never stored."""
    role: str = "admin"
    """`read`, `record`, `propose`, `publish` or `admin`; each includes those before it."""
    limits: dict[str, int] = json_field()
    """The key's own limits, where they differ from the hub's; see `skillhub.services.limits`."""
    created_by: str = Field(default="system", sa_column_kwargs={"server_default": "system"})
    """Id of the key that made it."""
    created_at: datetime = time_field()
    expires_at: datetime | None = time_field(nullable=True)
    last_used_at: datetime | None = time_field(nullable=True)
    """Within a minute of the truth, so that reading costs no write."""
    revoked_at: datetime | None = time_field(nullable=True)
