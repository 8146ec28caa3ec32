"""Sends webhooks: from events to deliveries, from deliveries to receivers. Not the sweeper's, because receivers can be slow."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from skillhub.config import Settings
from skillhub.safety import outbound
from skillhub.services import webhooks
from skillhub.services.webhooks import Message
from skillhub.store.session import Database

log = logging.getLogger("skillhub.webhooks")

AT_ONCE = 8
"""Deliveries one worker sends at a time; a slow receiver takes one of these places, for ten seconds at most."""


def send_due(database: Database, settings: Settings, pool: Executor, *, room: int = AT_ONCE) -> list[Future[None]]:
    """Make the deliveries of new events, and begin to send those that are due, as many as there is room for."""
    webhooks.fill(database)
    messages = webhooks.claim(database, secret=settings.secret, limit=room) if room else []
    return [pool.submit(_send, database, message, settings) for message in messages]


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
    under_way: set[Future[None]] = set()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while not over.is_set():
            under_way = {future for future in under_way if not future.done()}
            under_way.update(_round(database, settings, pool, room=AT_ONCE - len(under_way)))
            if under_way:
                wait(under_way, timeout=settings.sweep_seconds, return_when=FIRST_COMPLETED)
            else:
                over.wait(settings.sweep_seconds)


def _round(database: Database, settings: Settings, pool: Executor, *, room: int) -> list[Future[None]]:
    try:
        return send_due(database, settings, pool, room=room)
    except SQLAlchemyError as error:
        log.warning("webhooks: %s", error)
    except Exception:
        log.exception("webhooks: this round failed")
    return []


def _send(database: Database, message: Message, settings: Settings) -> None:
    """One attempt. Whatever goes wrong in it is its result: a delivery that cannot be sent must come to an end too."""
    status, error = None, None
    try:
        rules = webhooks.rules(settings)
        status = outbound.post(message.url, content=message.content, headers=message.headers, rules=rules)
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    try:
        webhooks.finish(database, message.delivery, status=status, error=error, pause_seconds=settings.webhook_retry_seconds)
    except SQLAlchemyError as failure:
        log.warning("webhooks: the result of %s could not be stored, it is sent again: %s", message.delivery.id, failure)
