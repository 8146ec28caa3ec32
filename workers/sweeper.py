"""Every few seconds: what the broker lost is sent again, what vanished is given back. PostgreSQL is the truth."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from skillhub.config import Settings
from skillhub.services import idempotency, jobs, schedules, trials
from skillhub.store.session import Database

log = logging.getLogger("skillhub.workers")


def sweep_once(database: Database, announce: Callable[[str], None], settings: Settings) -> None:
    """One round: schedules that are due, dead and waiting jobs, leases on trials, then answers kept for retries."""
    fired = schedules.fire_due(database, announce)
    sent = jobs.sweep(database, announce, settings)
    expired = trials.expire(database, max_attempts=settings.max_attempts)
    idempotency.purge(database)
    if fired or sent or expired:
        log.info("sweeper: %d schedules fired, %d jobs announced again, %d trials given back", fired, sent, expired)


@contextmanager
def sweeping(database: Database, announce: Callable[[str], None], settings: Settings) -> Iterator[None]:
    """Sweep from a thread for as long as the block runs. Several workers may do so at once."""
    over = threading.Event()
    thread = threading.Thread(target=_loop, args=(database, announce, settings, over), name="sweeper", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _loop(database: Database, announce: Callable[[str], None], settings: Settings, over: threading.Event) -> None:
    while not over.is_set():
        try:
            sweep_once(database, announce, settings)
        except SQLAlchemyError as error:
            log.warning("sweeper: %s", error)
        except Exception:
            log.exception("sweeper: this round failed")
        over.wait(settings.sweep_seconds)
