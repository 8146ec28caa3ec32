"""SQL of webhooks and deliveries."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text
from sqlmodel import Session, col, select

from skillhub.models import Webhook, WebhookDelivery
from skillhub.store import clock, keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME
LEASE_SECONDS = 60
_DUE = text("""
SELECT d.id FROM webhook_delivery d JOIN webhook w ON w.id = d.webhook_id
WHERE d.state = 'waiting' AND d.next_attempt_at <= :at AND w.state = 'active'
  AND NOT EXISTS (SELECT 1 FROM webhook_delivery e WHERE e.webhook_id = d.webhook_id AND e.state = 'waiting' AND e.seq < d.seq)
ORDER BY d.next_attempt_at LIMIT :limit FOR UPDATE OF d SKIP LOCKED
""")


def get(session: Session, *, workspace_id: str, webhook_id: str) -> Webhook | None:
    """The webhook, its row locked."""
    query = select(Webhook).where(Webhook.id == webhook_id, Webhook.workspace_id == workspace_id).with_for_update()
    return session.exec(query).one_or_none()


def page(session: Session, *, workspace_id: str, start: Start) -> Sequence[Webhook]:
    query = select(Webhook).where(Webhook.workspace_id == workspace_id)
    return keyset.page(session, query, Webhook, orders=ORDERS, start=start)


def deliveries(session: Session, *, webhook_id: str, state: str | None, start: Start) -> Sequence[WebhookDelivery]:
    query = select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook_id)
    query = keyset.filtered(query, WebhookDelivery, {"state": state})
    return keyset.page(session, query, WebhookDelivery, orders=ORDERS, start=start)


def delivery(session: Session, *, webhook_id: str, delivery_id: str) -> WebhookDelivery | None:
    query = select(WebhookDelivery).where(WebhookDelivery.id == delivery_id, WebhookDelivery.webhook_id == webhook_id)
    return session.exec(query.with_for_update()).one_or_none()


def active(session: Session) -> list[tuple[str, str, int]]:
    """`(workspace, webhook, after_seq)` of all that are active; for a system transaction."""
    return list(session.exec(select(Webhook.workspace_id, Webhook.id, Webhook.after_seq).where(Webhook.state == "active")))


def claim(session: Session, *, limit: int) -> list[WebhookDelivery]:
    """The oldest waiting delivery of each webhook that is due, leased, its attempt counted; for a system transaction."""
    at = clock.now(session)
    ids = session.execute(_DUE, {"at": at, "limit": limit}).scalars().all()
    found = session.exec(select(WebhookDelivery).where(col(WebhookDelivery.id).in_(ids))).all()
    for each in found:
        each.attempt += 1
        each.next_attempt_at = at + timedelta(seconds=LEASE_SECONDS)
        session.add(each)
    session.flush()
    return list(found)
