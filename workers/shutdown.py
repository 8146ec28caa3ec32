"""A worker told to stop waits for its jobs, but not for ever: what still runs then is given back, so that another goes on."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from celery.signals import worker_shutting_down
from sqlalchemy.exc import SQLAlchemyError

from skillhub.services.jobs import Claim, Fenced
from workers.runner import RUNNING

log = logging.getLogger("skillhub.workers")

GIVE_BACK_SECONDS = 2.0
"""A job that is in the midst of its effect holds its row; after this long its lease has to run out."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """While the block runs, SIGTERM ends this process at the latest `seconds` after it (and the time to give back)."""

    def begin(**signal: object) -> None:
        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()

    worker_shutting_down.connect(begin, weak=False)
    try:
        yield
    finally:
        worker_shutting_down.disconnect(begin)


def end() -> None:
    """Give back every running job and end this process: its threads are in handlers that cannot be interrupted."""
    threads = [threading.Thread(target=give_back, args=(claim,), daemon=True) for claim in tuple(RUNNING)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GIVE_BACK_SECONDS)
    os._exit(0)


def give_back(claim: Claim) -> None:
    try:
        claim.give_back()
    except (Fenced, SQLAlchemyError) as error:
        log.warning("job %s was not given back: %s", claim.job_id, error)
    else:
        log.info("job %s was given back: this worker stops", claim.job_id)
