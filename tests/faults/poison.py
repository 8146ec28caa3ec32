"""Jobs of the tests, for a worker that imports this: one that kills its process, one that takes effect at once."""

import os
import signal

from skillhub.services.jobs import Claim
from workers import handlers

POISON, NOTE = "test.poison", "test.note"


def kill_own_process(claim: Claim) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def write_note(claim: Claim) -> None:
    with claim.effect() as unit:
        unit.record("note.written", claim.job_id)


handlers.HANDLERS |= {POISON: kill_own_process, NOTE: write_note}
