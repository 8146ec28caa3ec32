"""Webhooks and what became of their deliveries."""

from datetime import datetime

from skillhub_client.models.base import Answer


class Webhook(Answer):
    """Where events are told; `state` is active, paused or disabled (after failures in a row)."""

    id: str
    url: str
    kinds: tuple[str, ...]
    state: str
    failures: int
    after_seq: int
    created_by: str
    created_at: datetime


class NewWebhook(Webhook):
    """A webhook just made, or whose secret was just rotated; `secret` is shown only here."""

    secret: str


class Tested(Answer):
    """`seq` of the event that is on its way."""

    seq: int


class Delivery(Answer):
    """One event on its way to one webhook: `waiting`, `delivered` or `dead`."""

    id: str
    seq: int
    state: str
    attempt: int
    next_attempt_at: datetime
    status: int | None = None
    error: str | None = None
    created_at: datetime
    finished_at: datetime | None = None
