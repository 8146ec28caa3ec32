"""Background jobs: claim -> work -> effect. A job runs at least once and takes effect once.

A claim commits before any work, so that work which kills its process is counted. The effect and the end of the job are one
transaction, which first makes sure that this attempt is still the running one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from skillhub.config import Settings
from skillhub.errors import Conflict, NotFound
from skillhub.models import Job
from skillhub.models.base import now
from skillhub.services.scope import Scope, Unit
from skillhub.store import clock, jobs
from skillhub.store.keyset import Start
from skillhub.store.session import Database

ANNOUNCE_PAUSE_SECONDS = 10.0
"""The broker is told again of a waiting job after this long."""
ANNOUNCE_LIMIT = 100
MAX_ERROR = 4000
NEWEST = Start("-created_at")


class Fenced(Conflict):
    """This attempt at the job is no longer the running one; its work must not take effect."""

    code = "fenced"


@dataclass(frozen=True)
class Claim:
    """One attempt at a job."""

    scope: Scope
    job_id: str
    kind: str
    payload: dict[str, Any]
    attempt: int
    settings: Settings
    result: dict[str, Any] = field(default_factory=dict)
    """The handler fills it inside `effect`."""
    lines: list[str] = field(default_factory=list)

    def log(self, line: str) -> None:
        """A line for people; stored with the end of the attempt."""
        self.lines.append(f"attempt {self.attempt}: {line}\n")

    def heartbeat(self) -> None:
        """Prolong the lease; Fenced where it was lost."""
        with self.scope.transaction() as unit:
            seconds = self.settings.lease_seconds
            if not jobs.extend(unit.session, self.job_id, attempt=self.attempt, lease_seconds=seconds):
                raise Fenced

    @contextmanager
    def effect(self) -> Iterator[Unit]:
        """The one transaction in which the job changes anything; leaving it ends the job. Fenced where the lease was lost."""
        with self.scope.transaction() as unit:
            job = self._running_in(unit)
            yield unit
            job.state, job.result, job.progress = "succeeded", dict(self.result), 1.0
            self._end_in(unit, job)
            unit.record("job.succeeded", job.id, kind=job.kind, attempt=job.attempt)

    def fail(self, error: str) -> None:
        """This attempt broke; the job is tried again, or is dead after the last attempt."""
        with self.scope.transaction() as unit:
            job = self._running_in(unit)
            job.state = "failed" if job.attempt < self.settings.max_attempts else "dead"
            job.error = error[:MAX_ERROR]
            self._end_in(unit, job)
            unit.record("job.failed", job.id, kind=job.kind, attempt=job.attempt, state=job.state)

    def _running_in(self, unit: Unit) -> Job:
        job = jobs.lock(unit.session, self.job_id)
        if job is None or job.state != "running" or job.attempt != self.attempt:
            raise Fenced
        return job

    def _end_in(self, unit: Unit, job: Job) -> None:
        job.log += "".join(self.lines)
        job.lease_expires_at = None
        job.finished_at = None if job.state == "failed" else now()
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
    return Claim(scope, job.id, job.kind, job.payload, job.attempt, settings)


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


def get(scope: Scope, job_id: str) -> Job:
    with scope.transaction() as unit:
        job = jobs.get(unit.session, job_id)
        if job is None:
            raise NotFound(f"there is no job {job_id!r}")
        return job


def page(scope: Scope, start: Start = NEWEST, **filters: Any) -> Sequence[Job]:
    """Jobs by `state`, `kind`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return jobs.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters)


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
            unit.session.add(job)
            unit.session.flush()
            unit.record("job.failed", job.id, kind=job.kind, attempt=job.attempt, state=job.state)
