"""Sends webhooks: from events to deliveries, from deliveries to receivers. Not the sweeper's, because receivers can be slow."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
from sqlalchemy.exc import SQLAlchemyError

from skillhub.config import Settings
from skillhub.errors import Invalid
from skillhub.safety import outbound
from skillhub.services import webhooks
from skillhub.services.webhooks import Message
from skillhub.store.session import Database

log = logging.getLogger("skillhub.webhooks")

AT_ONCE = 8


def deliver_once(database: Database, settings: Settings) -> int:
    """One round: deliveries of new events, then those that are due are sent; returns how many were sent."""
    webhooks.fill(database)
    messages = webhooks.claim(database, secret=settings.secret, limit=AT_ONCE)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda message: _send(database, message, settings), messages))
    return len(messages)


@contextmanager
def delivering(database: Database, settings: Settings) -> Iterator[None]:
    """Deliver from a thread for as long as the block runs. Several workers may do so at once."""
    if not settings.secret:
        log.info("no secret to sign webhooks with: this worker sends none")
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_loop, args=(database, settings, over), name="courier", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _loop(database: Database, settings: Settings, over: threading.Event) -> None:
    while not over.is_set():
        sent = 0
        try:
            sent = deliver_once(database, settings)
        except SQLAlchemyError as error:
            log.warning("webhooks: %s", error)
        except Exception:
            log.exception("webhooks: this round failed")
        over.wait(0 if sent else settings.sweep_seconds)


def _send(database: Database, message: Message, settings: Settings) -> None:
    status, error = None, None
    rules = webhooks.rules(settings)
    try:
        status = outbound.post(message.url, content=message.content, headers=message.headers, rules=rules)
    except (Invalid, httpx.HTTPError) as failure:
        error = f"{type(failure).__name__}: {failure}"
    webhooks.finish(database, message.delivery, status=status, error=error, pause_seconds=settings.webhook_retry_seconds)
