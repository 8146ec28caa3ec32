"""Background work: to watch, to cancel, to start over."""

from typing import Annotated, Literal

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.jobs import JobOut, JobsOut, JobWithAttemptsOut, RetryIn
from skillhub.services import job_control
from skillhub.store import jobs as rows

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
JobState = Literal["queued", "running", "succeeded", "failed", "dead", "cancelled"]


@router.get("")
def list_jobs(
    scope: ScopeDep, page: JobPage, created: CreatedDep, state: JobState | None = None, kind: Word | None = None
) -> Page[JobOut]:
    """Jobs, newest first. Those in state `dead` are the dead letters: their input and last error are kept."""
    return page.page(job_control.page(scope, page.start, state=state, kind=kind, **created), item=JobOut.of)


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
