"""The event log as evidence."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from api.deps import ScopeDep
from api.schemas.audit import HeadOut, VerdictOut
from skillhub.services import audit

router = APIRouter(prefix="/v1/audit", tags=["audit"])

MAX_EVENTS = 50_000


@router.get("/head")
def get_head(scope: ScopeDep, request: Request) -> HeadOut:
    """The newest event of the log, signed, to be kept elsewhere."""
    return HeadOut.of(audit.head(scope, secret=request.app.state.settings.secret))


@router.get("/verify")
def verify_log(
    scope: ScopeDep,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="Event that is trusted; 0 begins with the first")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = 10_000,
) -> VerdictOut:
    """Follow the hash chain over some events; the whole log part by part, or at once with `skillhub audit verify`."""
    return VerdictOut.of(audit.verify(scope, after=after, limit=limit))
