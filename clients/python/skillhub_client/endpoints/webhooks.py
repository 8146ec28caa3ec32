"""Calls that arrange to be told of events."""

from collections.abc import Sequence

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, as_nothing, given, part, strings
from skillhub_client.transport import Call


def list_webhooks(
    *, sort: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Webhook]]:
    """One page of webhooks, newest first."""
    params = {"sort": sort, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/webhooks", as_(m.Page[m.Webhook]), params=params)


def create_webhook(url: str, *, kinds: Sequence[str] = ()) -> Call[m.NewWebhook]:
    """Be told of events of these kinds (of all, where none is named) from now on. Invalid for a URL that is not public."""
    return Call("POST", "/v1/webhooks", as_(m.NewWebhook), json={"url": url, "kinds": strings(kinds)})


def get_webhook(id: str) -> Call[m.Webhook]:
    """A webhook, without its secret."""
    return Call("GET", f"/v1/webhooks/{part(id)}", as_(m.Webhook))


def change_webhook(
    id: str, *, url: str | None = None, kinds: Sequence[str] | None = None, state: str | None = None
) -> Call[m.Webhook]:
    """Another URL, other kinds, `paused` or `active`."""
    body = {"url": url, "kinds": None if kinds is None else strings(kinds), "state": state}
    return Call("PATCH", f"/v1/webhooks/{part(id)}", as_(m.Webhook), json=given(body))


def delete_webhook(id: str) -> Call[None]:
    """Nothing that waits is sent any more."""
    return Call("DELETE", f"/v1/webhooks/{part(id)}", as_nothing)


def rotate_webhook_secret(id: str, *, grace_seconds: int = 24 * 3600) -> Call[m.NewWebhook]:
    """A new secret; the one before signs beside it for `grace_seconds`."""
    return Call("POST", f"/v1/webhooks/{part(id)}/rotate", as_(m.NewWebhook), json={"grace_seconds": grace_seconds})


def test_webhook(id: str) -> Call[m.Tested]:
    """Send an event of the kind `webhook.tested` to this webhook alone."""
    return Call("POST", f"/v1/webhooks/{part(id)}/test", as_(m.Tested))


def list_deliveries(
    id: str, *, state: str | None = None, sort: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Delivery]]:
    """One page of what was sent and what waits, newest first."""
    params = {"state": state, "sort": sort, "cursor": cursor, "limit": limit}
    return Call("GET", f"/v1/webhooks/{part(id)}/deliveries", as_(m.Page[m.Delivery]), params=params)


def redeliver(id: str, delivery_id: str) -> Call[m.Delivery]:
    """Send a delivery again, whatever became of it."""
    return Call("POST", f"/v1/webhooks/{part(id)}/deliveries/{part(delivery_id)}/redeliver", as_(m.Delivery))
