"""Background work, to watch."""

from typing import Annotated, Literal

from fastapi import APIRouter

from api.deps import ScopeDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.jobs import JobOut
from skillhub.services import jobs
from skillhub.store import jobs as rows

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
JobState = Literal["queued", "running", "succeeded", "failed", "dead"]


@router.get("")
def list_jobs(
    scope: ScopeDep, page: JobPage, created: CreatedDep, state: JobState | None = None, kind: Word | None = None
) -> Page[JobOut]:
    """Jobs, newest first."""
    return page.page(jobs.page(scope, page.start, state=state, kind=kind, **created), item=JobOut.of)


@router.get("/{job_id}")
def get_job(job_id: str, scope: ScopeDep) -> JobOut:
    """State, progress, attempts, log and result of a job."""
    return JobOut.of(jobs.get(scope, job_id))
