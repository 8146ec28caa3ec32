"""Where a workspace wants to be told of its events, and what became of each telling."""

from datetime import datetime

from sqlalchemy import BigInteger
from sqlmodel import Column, Field, ForeignKey, Index, SQLModel, String, UniqueConstraint

from skillhub.models.base import json_field, time_field, workspace_field


class Webhook(SQLModel, table=True):
    """Its secret is not here: it is derived from the hub's secret, the id and `secret_number`."""

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    url: str
    kinds: list[str] = json_field(list)
    """Kinds of events it is told of; empty for all."""
    state: str = "active"
    """`active`, `paused` (by a person), or `disabled` (after failures in a row)."""
    secret_number: int = 1
    previous_until: datetime | None = time_field(nullable=True)
    """Until then the secret before the last rotation signs too."""
    after_seq: int = Field(sa_type=BigInteger)
    """Events up to this one have their delivery."""
    failures: int = 0
    """Deliveries given up in a row."""
    created_by: str
    created_at: datetime = time_field()


class WebhookDelivery(SQLModel, table=True):
    __tablename__ = "webhook_delivery"
    __table_args__ = (UniqueConstraint("webhook_id", "seq"), Index("ix_webhook_delivery_due", "state", "next_attempt_at"))

    id: str = Field(primary_key=True)
    """Sent as `webhook-id`, the same on every attempt."""
    workspace_id: str = workspace_field()
    webhook_id: str = Field(sa_column=Column(String, ForeignKey("webhook.id", ondelete="CASCADE"), nullable=False))
    seq: int = Field(sa_type=BigInteger)
    state: str = "waiting"
    """`waiting`, `delivered`, or `dead` after the last attempt."""
    attempt: int = 0
    next_attempt_at: datetime = time_field()
    """Also the end of the lease of an attempt under way."""
    status: int | None = None
    error: str | None = None
    created_at: datetime = time_field()
    finished_at: datetime | None = time_field(nullable=True)
