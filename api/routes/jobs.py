"""Background work, to watch."""

from typing import Literal

from fastapi import APIRouter

from api.deps import ScopeDep
from api.pages import Page, PageDep
from api.schemas.jobs import JobOut
from skillhub.services import jobs

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobState = Literal["queued", "running", "succeeded", "failed", "dead"]


@router.get("")
def list_jobs(scope: ScopeDep, page: PageDep, state: JobState | None = None, kind: str | None = None) -> Page[JobOut]:
    """Jobs, newest first."""
    rows = jobs.page(scope, state=state, kind=kind, before=page.after, limit=page.fetch)
    return page.page(rows, key=lambda job: job.id, item=JobOut.of)


@router.get("/{job_id}")
def get_job(job_id: str, scope: ScopeDep) -> JobOut:
    """State, progress, attempts, log and result of a job."""
    return JobOut.of(jobs.get(scope, job_id))
