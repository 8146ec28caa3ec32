"""Background work: to watch, to cancel, to start over."""

from typing import Literal

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import Page, PageDep
from api.schemas.jobs import JobOut, JobsOut, JobWithAttemptsOut, RetryIn
from skillhub.services import job_control

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobState = Literal["queued", "running", "succeeded", "failed", "dead", "cancelled"]


@router.get("")
def list_jobs(scope: ScopeDep, page: PageDep, state: JobState | None = None, kind: str | None = None) -> Page[JobOut]:
    """Jobs, newest first. Those in state `dead` are the dead letters: their input and last error are kept."""
    rows = job_control.page(scope, state=state, kind=kind, before=page.after, limit=page.fetch)
    return page.page(rows, key=lambda job: job.id, item=JobOut.of)


@router.post("/retry")
def retry_jobs(body: RetryIn, once: OnceDep) -> JobsOut:
    """Start several dead or cancelled jobs over, all or none."""
    return once(JobsOut, lambda scope: JobsOut(jobs=[JobOut.of(view.job) for view in job_control.retry(scope, body.ids)]))


@router.get("/{job_id}")
def get_job(job_id: str, scope: ScopeDep) -> JobWithAttemptsOut:
    """State, progress, attempts, log and result of a job, also while it runs."""
    return JobWithAttemptsOut.with_attempts(job_control.get(scope, job_id))


@router.post("/{job_id}/cancel")
def cancel_job(job_id: str, scope: ScopeDep) -> JobWithAttemptsOut:
    """End a job without an effect; 409 where it is over. A running handler learns of it at its next sign of life."""
    return JobWithAttemptsOut.with_attempts(job_control.cancel(scope, job_id))


@router.post("/{job_id}/retry")
def retry_job(job_id: str, once: OnceDep) -> JobWithAttemptsOut:
    """Start a dead or cancelled job over: the same job, its attempts counted anew; 409 in any other state."""
    return once(JobWithAttemptsOut, lambda scope: JobWithAttemptsOut.with_attempts(*job_control.retry(scope, [job_id])))
