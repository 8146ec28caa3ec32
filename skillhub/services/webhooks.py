"""Telling others of events: who is told what, and what became of it. The sending itself is the workers'.

Each event has at most one delivery for a webhook, made from the log, so none is missed. A delivery is sent at least once, in
the order of the log for each webhook, signed as the Standard Webhooks specification has it.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from skillhub.config import Settings
from skillhub.errors import Conflict, NotFound
from skillhub.hashing import keyed_hash
from skillhub.ids import new_id
from skillhub.models import Event, Webhook, WebhookDelivery
from skillhub.models.base import now
from skillhub.safety import outbound
from skillhub.safety.outbound import Rules
from skillhub.services.scope import Scope, Unit
from skillhub.store import events, webhooks
from skillhub.store.keyset import Start
from skillhub.store.session import Database

PREFIX = "whsec_"
TESTED = "webhook.tested"
FILLED_AT_ONCE = 500
MAX_ATTEMPTS = 8
MAX_PAUSE_SECONDS = 3600.0
MAX_FAILURES = 5
"""Deliveries given up in a row after which a webhook is disabled."""
MAX_ERROR = 500
NEWEST = Start("-created_at")


@dataclass(frozen=True)
class Message:
    """A delivery on its way."""

    delivery: WebhookDelivery
    url: str
    content: bytes
    headers: dict[str, str]


def rules(settings: Settings) -> Rules:
    """Where webhooks may go."""
    return Rules.of(http=settings.webhook_allow_http, networks=settings.webhook_allowed_networks)


def create(scope: Scope, *, url: str, kinds: Sequence[str], rules: Rules) -> Webhook:
    """Told of what happens from now on. Errors: Invalid for a URL that must not be reached."""
    outbound.check(url, rules)
    with scope.transaction() as unit:
        events.lock(unit.session, unit.workspace_id)
        head = events.head_seq(unit.session, unit.workspace_id)
        facts = {"workspace_id": unit.workspace_id, "created_by": scope.actor, "after_seq": head}
        webhook = Webhook(id=new_id("whk"), url=url, kinds=list(kinds), **facts)
        unit.session.add(webhook)
        unit.session.flush()
        unit.record("webhook.created", webhook.id, host=urlsplit(url).hostname)
        return webhook


def get(scope: Scope, webhook_id: str) -> Webhook:
    with scope.transaction() as unit:
        return _get_in(unit, webhook_id)


def page(scope: Scope, start: Start = NEWEST) -> Sequence[Webhook]:
    with scope.transaction() as unit:
        return webhooks.page(unit.session, workspace_id=unit.workspace_id, start=start)


def change(scope: Scope, webhook_id: str, *, rules: Rules, **changes: Any) -> Webhook:
    """Another `url`, other `kinds`, another `state`. Made active again, it is told of what happened meanwhile too."""
    if "url" in changes:
        outbound.check(changes["url"], rules)
    with scope.transaction() as unit:
        webhook = _get_in(unit, webhook_id)
        webhook.sqlmodel_update(changes | ({"failures": 0} if changes.get("state") == "active" else {}))
        unit.session.add(webhook)
        unit.session.flush()
        unit.record("webhook.changed", webhook.id, fields=sorted(changes))
        return webhook


def rotate(scope: Scope, webhook_id: str, *, grace_seconds: int) -> Webhook:
    """A new secret; the one before signs beside it for `grace_seconds`."""
    with scope.transaction() as unit:
        webhook = _get_in(unit, webhook_id)
        webhook.secret_number += 1
        webhook.previous_until = now() + timedelta(seconds=grace_seconds)
        unit.session.add(webhook)
        unit.session.flush()
        unit.record("webhook.rotated", webhook.id)
        return webhook


def delete(scope: Scope, webhook_id: str) -> None:
    """Nothing that waits is sent any more."""
    with scope.transaction() as unit:
        webhook = _get_in(unit, webhook_id)
        unit.session.delete(webhook)
        unit.session.flush()
        unit.record("webhook.deleted", webhook_id)


def test(scope: Scope, webhook_id: str) -> int:
    """An event for this webhook alone; returns its `seq`. Conflict where the webhook is not active."""
    with scope.transaction() as unit:
        webhook = _get_in(unit, webhook_id)
        if webhook.state != "active":
            raise Conflict(f"the webhook is {webhook.state}, so nothing would be sent")
        return unit.record(TESTED, webhook.id)


def deliveries(scope: Scope, webhook_id: str, start: Start = NEWEST, *, state: str | None = None) -> Sequence[WebhookDelivery]:
    with scope.transaction() as unit:
        _get_in(unit, webhook_id)
        return webhooks.deliveries(unit.session, webhook_id=webhook_id, state=state, start=start)


def redeliver(scope: Scope, webhook_id: str, delivery_id: str) -> WebhookDelivery:
    """Send it again. Errors: NotFound; Conflict where it is on its way already."""
    with scope.transaction() as unit:
        _get_in(unit, webhook_id)
        found = webhooks.delivery(unit.session, webhook_id=webhook_id, delivery_id=delivery_id)
        if found is None:
            raise NotFound(f"there is no delivery {delivery_id!r} of this webhook")
        if found.state == "waiting":
            raise Conflict("this delivery is on its way already")
        found.state, found.attempt, found.next_attempt_at, found.finished_at = "waiting", 0, now(), None
        unit.session.add(found)
        unit.session.flush()
        unit.record("webhook.redelivered", webhook_id, delivery_id=found.id, seq=found.seq)
        return found


def secret_of(webhook: Webhook, *, secret: str, number: int | None = None) -> str:
    """What the receiver verifies with: `whsec_` and base64 of HMAC-SHA256 under the hub's secret; kept nowhere."""
    derived = keyed_hash(secret, f"webhook:{webhook.id}:{number or webhook.secret_number}")
    return PREFIX + base64.b64encode(bytes.fromhex(derived)).decode()


def fill(database: Database) -> int:
    """Make the deliveries of events that have none yet; returns how many."""
    with database.system_transaction() as session:
        found = webhooks.active(session)
    return sum(_fill(Scope(database, workspace_id, "system"), webhook_id) for workspace_id, webhook_id, _ in found)


def claim(database: Database, *, secret: str, limit: int) -> list[Message]:
    """Deliveries to be sent now, the oldest of each webhook; whoever claims has a minute, then they are anyone's again."""
    with database.system_transaction() as session:
        found = webhooks.claim(session, limit=limit)
        return [_message(session.get_one(Webhook, each.webhook_id), each, _event(session, each), secret) for each in found]


def finish(database: Database, sent: WebhookDelivery, *, status: int | None, error: str | None, pause_seconds: float) -> None:
    """What became of an attempt. A status of 2xx is a success; after the last attempt the delivery is dead."""
    scope = Scope(database, sent.workspace_id, "system")
    with scope.transaction() as unit:
        events.lock(unit.session, unit.workspace_id)
        webhook = webhooks.get(unit.session, workspace_id=unit.workspace_id, webhook_id=sent.webhook_id)
        found = webhooks.delivery(unit.session, webhook_id=sent.webhook_id, delivery_id=sent.id)
        if webhook is None or found is None or (found.state, found.attempt) != ("waiting", sent.attempt):
            return
        found.status, found.error = status, error and error[:MAX_ERROR]
        _settle(unit, webhook, found, ok=status is not None and 200 <= status < 300, pause_seconds=pause_seconds)
        unit.session.add_all([webhook, found])


def _settle(unit: Unit, webhook: Webhook, found: WebhookDelivery, *, ok: bool, pause_seconds: float) -> None:
    if ok:
        found.state, found.finished_at, webhook.failures = "delivered", now(), 0
    elif found.attempt < MAX_ATTEMPTS:
        pause = min(pause_seconds * 4 ** (found.attempt - 1), MAX_PAUSE_SECONDS)
        found.next_attempt_at = now() + timedelta(seconds=pause)
    else:
        found.state, found.finished_at = "dead", now()
        webhook.failures += 1
        if webhook.failures >= MAX_FAILURES and webhook.state == "active":
            webhook.state = "disabled"
            unit.record("webhook.disabled", webhook.id, failures=webhook.failures)


def _fill(scope: Scope, webhook_id: str) -> int:
    with scope.transaction() as unit:
        webhook = webhooks.get(unit.session, workspace_id=unit.workspace_id, webhook_id=webhook_id)
        if webhook is None or webhook.state != "active":
            return 0
        new = events.after(unit.session, unit.workspace_id, seq=webhook.after_seq, limit=FILLED_AT_ONCE)
        wanted = [event for event in new if _is_wanted(webhook, event)]
        unit.session.add_all(
            WebhookDelivery(id=new_id("msg"), workspace_id=unit.workspace_id, webhook_id=webhook.id, seq=event.seq)
            for event in wanted
        )
        webhook.after_seq = new[-1].seq if new else webhook.after_seq
        unit.session.add(webhook)
        return len(wanted)


def _is_wanted(webhook: Webhook, event: Event) -> bool:
    if event.kind == TESTED:
        return event.subject_id == webhook.id
    return not webhook.kinds or event.kind in webhook.kinds


def _event(session: Any, delivery: WebhookDelivery) -> Event:
    return session.get_one(Event, (delivery.workspace_id, delivery.seq))


def _message(webhook: Webhook, delivery: WebhookDelivery, event: Event, secret: str) -> Message:
    data = event.model_dump(mode="json", exclude={"prev_sha256", "sha256"})
    content = json.dumps({"type": event.kind, "timestamp": data["created_at"], "data": data}, ensure_ascii=False).encode()
    at = now()
    signatures = [_signature(key, delivery.id, at, content) for key in _secrets(webhook, secret, at)]
    headers = {
        "Content-Type": "application/json", "User-Agent": "skillhub", "webhook-id": delivery.id,
        "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": " ".join(signatures),
    }  # fmt: skip
    return Message(delivery, webhook.url, content, headers)


def _secrets(webhook: Webhook, secret: str, at: datetime) -> list[str]:
    numbers = [webhook.secret_number]
    if webhook.previous_until is not None and webhook.previous_until > at:
        numbers.append(webhook.secret_number - 1)
    return [secret_of(webhook, secret=secret, number=number) for number in numbers]


def _signature(key: str, delivery_id: str, at: datetime, content: bytes) -> str:
    signed = f"{delivery_id}.{int(at.timestamp())}.".encode() + content
    digest = hmac.new(base64.b64decode(key.removeprefix(PREFIX)), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _get_in(unit: Unit, webhook_id: str) -> Webhook:
    events.lock(unit.session, unit.workspace_id)
    found = webhooks.get(unit.session, workspace_id=unit.workspace_id, webhook_id=webhook_id)
    if found is None:
        raise NotFound(f"there is no webhook {webhook_id!r}")
    return found
