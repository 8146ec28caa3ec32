"""Background jobs: claim -> work -> effect. A job runs at least once and takes effect once.

A claim commits before any work, so that work which kills its process is counted. The effect and the end of the job are one
transaction, which first makes sure that this attempt is still the running one.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from skillhub.config import Settings
from skillhub.errors import Conflict
from skillhub.models import Job
from skillhub.models.base import now
from skillhub.safety.text import storable
from skillhub.services.scope import Scope, Unit
from skillhub.store import clock, jobs
from skillhub.store.session import Database

ANNOUNCE_PAUSE_SECONDS = 10.0
"""The broker is told again of a waiting job after this long."""
ANNOUNCE_LIMIT = 100
MAX_ERROR = 4000
MAX_LOG = 64_000
"""Characters; of a longer log the end is kept."""
CLIPPED = "(earlier lines were dropped)\n"
MAX_PAUSE_SECONDS = 300.0
TELL_SECONDS = 0.5
"""Log and progress of a running job are stored no more often."""
FINAL = frozenset({"succeeded", "dead", "cancelled"})


class Fenced(Conflict):
    """This attempt at the job is no longer the running one; its work must not take effect."""

    code = "fenced"


@dataclass(eq=False)
class Claim:
    """One attempt at a job. Its methods but `effect` may be called from any thread."""

    scope: Scope
    job_id: str
    kind: str
    payload: dict[str, Any]
    attempt: int
    settings: Settings
    traceparent: str | None = None
    """Of the request that asked for the job."""
    text: str = ""
    """The job's log, with the lines of the attempts before."""
    done: float = 0.0
    """Progress in [0, 1]."""
    result: dict[str, Any] = field(default_factory=dict)
    """The handler fills it inside `effect`."""
    _lost: bool = False
    _in_effect: bool = False
    _told_at: float = 0.0

    def log(self, line: str) -> None:
        """A line for people, soon visible. Fenced where the job was cancelled or the lease lost: the handler should end."""
        self.text = _clipped(f"{self.text}attempt {self.attempt}: {storable(line)}\n")
        self._tell()

    def progress(self, done: float) -> None:
        """How much is done, in [0, 1], soon visible. Fenced as `log`."""
        self.done = min(max(done, 0.0), 1.0)
        self._tell()

    def heartbeat(self) -> None:
        """Prolong the lease and store log and progress; Fenced where the lease was lost or the job cancelled."""
        self._told_at = time.monotonic()
        with self.scope.transaction() as unit:
            seconds = self.settings.lease_seconds
            known = {"attempt": self.attempt, "lease_seconds": seconds, "progress": self.done, "log": self.text}
            self._lost = not jobs.report(unit.session, self.job_id, **known)
        if self._lost:
            raise Fenced

    @contextmanager
    def effect(self) -> Iterator[Unit]:
        """The one transaction in which the job changes anything; leaving it ends the job. Fenced where the lease was lost."""
        with self.scope.transaction() as unit:
            job = self._running_in(unit)
            self._in_effect = True
            try:
                yield unit
            finally:
                self._in_effect = False
            job.state, job.result, self.done, job.error = "succeeded", dict(self.result), 1.0, None
            self._end_in(unit, job, ended="succeeded")
            unit.record("job.succeeded", job.id, kind=job.kind, attempt=job.attempt)

    def fail(self, error: str) -> None:
        """This attempt broke; the job is tried again after a pause, or is dead after the last attempt."""
        with self.scope.transaction() as unit:
            job = self._running_in(unit)
            counted = job.attempt - job.forgiven
            job.state = "failed" if counted < self.settings.max_attempts else "dead"
            job.run_after = clock.now(unit.session) + timedelta(seconds=pause_seconds(self.settings.retry_seconds, counted))
            job.error = storable(error)[:MAX_ERROR]
            self._end_in(unit, job, ended="failed")
            unit.record("job.failed", job.id, kind=job.kind, attempt=job.attempt, state=job.state)

    def give_back(self) -> None:
        """Let another worker begin at once; this attempt does not count. Fenced where the lease was lost."""
        with self.scope.transaction() as unit:
            job = self._running_in(unit)
            self._lost = True
            job.state, job.forgiven, job.announced_at = "queued", job.forgiven + 1, now()
            self._end_in(unit, job, ended="given_back")
            unit.jobs.append(job.id)

    def _tell(self) -> None:
        """Not inside `effect`: its transaction holds the job's row and stores the same at its end."""
        if self._lost:
            raise Fenced
        if not self._in_effect and time.monotonic() - self._told_at >= TELL_SECONDS:
            self.heartbeat()

    def _running_in(self, unit: Unit) -> Job:
        job = jobs.lock(unit.session, self.job_id)
        if job is None or job.state != "running" or job.attempt != self.attempt:
            raise Fenced
        return job

    def _end_in(self, unit: Unit, job: Job, *, ended: str) -> None:
        job.log, job.progress, job.lease_expires_at = self.text, self.done, None
        job.finished_at = now() if job.state in FINAL else None
        jobs.end_attempt(unit.session, job.id, state=ended, error=job.error)
        unit.session.add(job)
        unit.session.flush()


def claim(
    database: Database, job_id: str, *, settings: Settings, announce: Callable[[str], None] | None = None
) -> Claim | None:
    """Begin the next attempt at a job; None where there is nothing to do: done, dead, unknown, or someone is at it."""
    with database.system_transaction() as session:
        job = jobs.claim(session, job_id, lease_seconds=settings.lease_seconds, max_attempts=settings.max_attempts)
    if job is None:
        return None
    scope = Scope(database, job.workspace_id, "system")
    if announce is not None:
        scope = replace(scope, announce=announce)
    facts = (job.id, job.kind, job.payload, job.attempt, settings, job.traceparent)
    return Claim(scope, *facts, text=job.log)


def sweep(database: Database, announce: Callable[[str], None], settings: Settings) -> int:
    """Bury jobs whose last attempt vanished, and tell the broker of those that wait; returns how many it told of."""
    _bury(database, settings)
    with database.system_transaction() as session:
        waiting = jobs.announce_due(
            session,
            max_attempts=settings.max_attempts,
            pause_seconds=ANNOUNCE_PAUSE_SECONDS,
            limit=ANNOUNCE_LIMIT,
        )
    for job_id in waiting:
        announce(job_id)
    return len(waiting)


def pause_seconds(first: float, attempt: int) -> float:
    """Pause after an attempt: `first` seconds, doubled with each one up to MAX_PAUSE_SECONDS; up to a half less by chance."""
    return min(first * 2 ** (attempt - 1), MAX_PAUSE_SECONDS) * random.uniform(0.5, 1.0)


def _clipped(text: str) -> str:
    """The end of a log that grew too long."""
    return text if len(text) <= MAX_LOG else CLIPPED + text[len(CLIPPED) - MAX_LOG :]


def _bury(database: Database, settings: Settings) -> None:
    with database.system_transaction() as session:
        vanished = jobs.exhausted(session, max_attempts=settings.max_attempts)
    for job_id, workspace_id in vanished:
        with Scope(database, workspace_id, "system").transaction() as unit:
            job = jobs.lock(unit.session, job_id)
            if job.state != "running" or job.lease_expires_at >= clock.now(unit.session):
                continue
            job.state, job.finished_at, job.lease_expires_at = "dead", now(), None
            job.error = f"attempt {job.attempt} showed no sign of life"
            jobs.end_attempt(unit.session, job.id, state="vanished")
            unit.session.add(job)
            unit.session.flush()
            unit.record("job.failed", job.id, kind=job.kind, attempt=job.attempt, state=job.state)
