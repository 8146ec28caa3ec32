"""Telling others of events."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response

from api.deps import ScopeDep
from api.pages import Page, PageQuery, sorted_by
from api.schemas.webhooks import (
    DeliveryOut,
    GraceIn,
    TestedOut,
    WebhookIn,
    WebhookOut,
    WebhookPatch,
    WebhookWithSecretOut,
)
from skillhub.config import Settings
from skillhub.services import webhooks
from skillhub.store import webhooks as rows

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

WebhookPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
State = Literal["waiting", "delivered", "dead"]


def _settings(request: Request) -> Settings:
    return request.app.state.settings


@router.get("")
def list_webhooks(scope: ScopeDep, page: WebhookPage) -> Page[WebhookOut]:
    """Webhooks, newest first."""
    return page.page(webhooks.page(scope, page.start), item=WebhookOut.of)


@router.post("", status_code=201)
def create_webhook(body: WebhookIn, scope: ScopeDep, request: Request) -> WebhookWithSecretOut:
    """Be told of events from now on. 422 for a URL that is not public. No `Idempotency-Key`: the answer holds a secret."""
    settings = _settings(request)
    made = webhooks.create(scope, url=body.url, kinds=body.kinds, rules=webhooks.rules(settings))
    return WebhookWithSecretOut.with_secret(made, settings.secret)


@router.get("/{webhook_id}")
def get_webhook(webhook_id: str, scope: ScopeDep) -> WebhookOut:
    """A webhook, without its secret."""
    return WebhookOut.of(webhooks.get(scope, webhook_id))


@router.patch("/{webhook_id}")
def change_webhook(webhook_id: str, body: WebhookPatch, scope: ScopeDep, request: Request) -> WebhookOut:
    """Another URL, other kinds, paused or active; made active, it is told of what happened meanwhile too."""
    return WebhookOut.of(webhooks.change(scope, webhook_id, rules=webhooks.rules(_settings(request)), **body.changes()))


@router.delete("/{webhook_id}", status_code=204)
def delete_webhook(webhook_id: str, scope: ScopeDep) -> Response:
    """Nothing that waits is sent any more."""
    webhooks.delete(scope, webhook_id)
    return Response(status_code=204)


@router.post("/{webhook_id}/rotate")
def rotate_webhook_secret(webhook_id: str, body: GraceIn, scope: ScopeDep, request: Request) -> WebhookWithSecretOut:
    """A new secret; the one before signs beside it for `grace_seconds`."""
    rotated = webhooks.rotate(scope, webhook_id, grace_seconds=body.grace_seconds)
    return WebhookWithSecretOut.with_secret(rotated, _settings(request).secret)


@router.post("/{webhook_id}/test", status_code=202)
def test_webhook(webhook_id: str, scope: ScopeDep) -> TestedOut:
    """Send an event of the kind `webhook.tested` to this webhook alone. 409 where it is not active."""
    return TestedOut(seq=webhooks.test(scope, webhook_id))


@router.get("/{webhook_id}/deliveries")
def list_deliveries(webhook_id: str, scope: ScopeDep, page: WebhookPage, state: State | None = None) -> Page[DeliveryOut]:
    """What was sent, and what waits, newest first."""
    return page.page(webhooks.deliveries(scope, webhook_id, page.start, state=state), item=DeliveryOut.of)


@router.post("/{webhook_id}/deliveries/{delivery_id}/redeliver", status_code=202)
def redeliver(webhook_id: str, delivery_id: str, scope: ScopeDep) -> DeliveryOut:
    """Send a delivery again, delivered or dead. 409 where it is on its way already."""
    return DeliveryOut.of(webhooks.redeliver(scope, webhook_id, delivery_id))
