"""One message -> claim -> signs of life -> handler -> end. Whatever happens in here, the job's row tells it."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from skillhub import tracing
from skillhub.config import Settings
from skillhub.services import jobs
from skillhub.services.jobs import Claim, Fenced
from skillhub.store.session import Database
from workers.handlers import HANDLERS, Handler

log = logging.getLogger("skillhub.workers")

BEAT_SECONDS = 5.0
"""Longest pause between two signs of life; a handler that logs nothing learns this late that its job was cancelled."""
RUNNING: set[Claim] = set()
"""Claims that this process works on."""


def run(
    database: Database,
    job_id: str,
    *,
    settings: Settings,
    announce: Callable[[str], None],
    handlers: Mapping[str, Handler] = HANDLERS,
) -> bool:
    """Try a job; False where there was nothing to do (a message sent twice, a job that someone else is at)."""
    claim = jobs.claim(database, job_id, settings=settings, announce=announce)
    if claim is None:
        return False
    log.info("job %s (%s): attempt %d", job_id, claim.kind, claim.attempt)
    try:
        with tracing.continued(f"job {claim.kind}", claim.traceparent, **_attributes(claim)), alive(claim):
            _handle(claim, handlers)
    except Fenced:
        log.warning("job %s: attempt %d was cancelled or lost its lease; its work is dropped", job_id, claim.attempt)
    except Exception as error:
        log.exception("job %s: attempt %d failed", job_id, claim.attempt)
        _report(claim, error)
    return True


def _attributes(claim: Claim) -> dict[str, str | int]:
    return {"skillhub.job_id": claim.job_id, "skillhub.attempt": claim.attempt}


@contextmanager
def alive(claim: Claim) -> Iterator[None]:
    """Signs of life from a thread while the work lasts, and a place among the claims that a stopping worker gives back."""
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, over), name=f"heartbeat-{claim.job_id}", daemon=True)
    thread.start()
    RUNNING.add(claim)
    try:
        yield
    finally:
        RUNNING.discard(claim)
        over.set()
        thread.join()


def _beat(claim: Claim, over: threading.Event) -> None:
    while not over.wait(min(claim.settings.lease_seconds / 3, BEAT_SECONDS)):
        try:
            claim.heartbeat()
        except Fenced:
            return
        except SQLAlchemyError as error:
            log.warning("no sign of life for job %s: %s", claim.job_id, error)


def _handle(claim: Claim, handlers: Mapping[str, Handler]) -> None:
    handler = handlers.get(claim.kind)
    if handler is None:
        raise LookupError(f"no handler for jobs of kind {claim.kind!r}")
    handler(claim)


def _report(claim: Claim, error: Exception) -> None:
    """Where not even the failure can be stored, the lease runs out and the sweeper sends the job again."""
    try:
        claim.fail(f"{type(error).__name__}: {error}")
    except (Fenced, SQLAlchemyError) as second:
        log.warning("job %s: its failure could not be stored: %s", claim.job_id, second)
