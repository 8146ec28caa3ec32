"""Asking the workers for candidates."""

from fastapi import APIRouter

from api.idempotency import OnceDep
from api.schemas.jobs import ExtractIn, JobOut, JobsOut
from skillhub.services import curation
from skillhub.services.scope import Scope

router = APIRouter(prefix="/v1/curation", tags=["curation"])


@router.post("/extract", status_code=202)
def extract(body: ExtractIn, once: OnceDep) -> JobsOut:
    """Draw candidates from the episodes of these slices; a job for each and one for the rules across them.

    A job's result has `candidate_ids`."""

    def start(scope: Scope) -> JobsOut:
        started = curation.request_extraction(scope, slices=body.slices, split=body.split)
        return JobsOut(jobs=[JobOut.of(job) for job in started])

    return once(JobsOut, start)
