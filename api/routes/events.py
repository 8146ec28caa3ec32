"""The event log."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import ScopeDep
from api.pages import Page
from api.schemas.events import EventOut
from skillhub.services import log

router = APIRouter(prefix="/v1/events", tags=["events"])


@router.get("")
def list_events(
    scope: ScopeDep,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="`seq` of the last event the caller has")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Page[EventOut]:
    """Events after a `seq`, oldest first; `next_cursor` is the next `after`."""
    rows = log.after(scope, seq=after, limit=limit + 1)
    items = [EventOut(**row.model_dump()) for row in rows[:limit]]
    return Page(items=items, next_cursor=str(items[-1].seq) if len(rows) > limit else None)
