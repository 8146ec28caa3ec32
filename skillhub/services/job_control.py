"""What people do with jobs: look, cancel, start dead ones over. Nothing of a job's input is ever lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillhub.errors import Conflict, NotFound
from skillhub.models import Job, JobAttempt
from skillhub.models.base import now
from skillhub.services.jobs import FINAL
from skillhub.services.scope import Scope, Unit
from skillhub.store import jobs
from skillhub.store.keyset import Start

NEWEST = Start("-created_at")
RETRIED = frozenset({"dead", "cancelled"})


@dataclass(frozen=True)
class JobView:
    """A job with its attempts, the first one first."""

    job: Job
    attempts: Sequence[JobAttempt]


def get(scope: Scope, job_id: str) -> JobView:
    """NotFound for a job that is not there."""
    with scope.transaction() as unit:
        job = jobs.get(unit.session, job_id)
        if job is None:
            raise _missing(job_id)
        return _view(unit, job)


def page(scope: Scope, start: Start = NEWEST, **filters: Any) -> Sequence[Job]:
    """Jobs by `state`, `kind`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return jobs.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters)


def cancel(scope: Scope, job_id: str) -> JobView:
    """No attempt begins any more, and a running one takes no effect. Errors: NotFound; Conflict where the job is over.

    The worker learns of it at its next sign of life. Cancelling again changes nothing.
    """
    with scope.transaction() as unit:
        job = _locked(unit, job_id)
        if job.state != "cancelled":
            _cancel_in(unit, job)
        return _view(unit, job)


def retry(scope: Scope, job_ids: Sequence[str]) -> list[JobView]:
    """Start dead or cancelled jobs over, all or none; their attempts count anew. Errors: NotFound; Conflict."""
    with scope.transaction() as unit:
        # in order of their ids, so that two of us do not wait for each other
        found = {job_id: _locked(unit, job_id) for job_id in sorted(set(job_ids))}
        for job in found.values():
            _retry_in(unit, job)
        return [_view(unit, found[job_id]) for job_id in dict.fromkeys(job_ids)]


def _cancel_in(unit: Unit, job: Job) -> None:
    if job.state in FINAL:
        raise Conflict(f"job {job.id} is {job.state} and cannot be cancelled")
    job.state, job.finished_at, job.lease_expires_at = "cancelled", now(), None
    jobs.end_attempt(unit.session, job.id, state="cancelled")
    unit.session.add(job)
    unit.session.flush()
    unit.record("job.cancelled", job.id, kind=job.kind, attempt=job.attempt)


def _retry_in(unit: Unit, job: Job) -> None:
    if job.state not in RETRIED:
        raise Conflict(f"job {job.id} is {job.state}; only a dead or cancelled job can be started over")
    job.state, job.forgiven, job.progress = "queued", job.attempt, 0.0
    job.error, job.run_after, job.finished_at, job.announced_at = None, None, None, now()
    unit.session.add(job)
    unit.session.flush()
    unit.record("job.retried", job.id, kind=job.kind, attempt=job.attempt)
    unit.jobs.append(job.id)


def _locked(unit: Unit, job_id: str) -> Job:
    job = jobs.lock(unit.session, job_id)
    if job is None:
        raise _missing(job_id)
    return job


def _view(unit: Unit, job: Job) -> JobView:
    return JobView(job, jobs.attempts(unit.session, job.id))


def _missing(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id!r}")
