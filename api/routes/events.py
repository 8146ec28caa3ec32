"""The event log: page by page, or as a stream that follows it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from api.deps import ScopeDep
from api.feed import Feed
from api.pages import MAX_INTEGER, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.events import EventOut
from skillhub.errors import Invalid
from skillhub.services import log
from skillhub.services.scope import Scope
from skillhub.store import events as rows
from skillhub.store.keyset import Start

router = APIRouter(prefix="/v1/events", tags=["events"])
EventPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="seq")]
STREAM = "text/event-stream"
HEARTBEAT_SECONDS = 15
AT_ONCE = 200
Seq = Annotated[int, Query(ge=0, le=MAX_INTEGER, description="`seq` of the last event the caller has")]
LastSeq = Annotated[
    str | None, Header(alias="Last-Event-ID", pattern=r"^[0-9]{1,18}$", description="Where a stream resumes, before `after`")
]


@dataclass(frozen=True)
class EventFilters:
    """What the log may be narrowed to."""

    kind: Word | None = None
    subject_id: Word | None = None
    actor: Word | None = None


@router.get("", response_model=Page[EventOut], responses={200: {"content": {STREAM: {"schema": {"type": "string"}}}}})
async def list_events(
    request: Request, scope: ScopeDep, page: EventPage, filters: Annotated[EventFilters, Depends()], after: Seq = 0,
    last_event_id: LastSeq = None,
) -> Page[EventOut] | Response:  # fmt: skip
    """Events after a `seq`, oldest first. With `Accept: text/event-stream` a stream that goes on for as long as both sides
    like: `id` is the `seq`, `event` the kind, `data` the event; resumed by `Last-Event-ID`. 503 where too many are open."""
    if STREAM in request.headers.get("Accept", ""):
        resumed = after if last_event_id is None else int(last_event_id)
        return _stream(request.app.state.feed, scope, page=page, after=resumed, filters=vars(filters))
    found = await run_in_threadpool(lambda: log.page(scope, page.start, after=after, **vars(filters)))
    return page.page(found, item=_out)


def _stream(feed: Feed, scope: Scope, *, page: PageQuery, after: int, filters: dict[str, Any]) -> Response:
    if page.key is not None or page.sort != "seq":
        raise Invalid("a stream starts at `after` or `Last-Event-ID` and goes upwards", path="/query/sort")
    feed.check_room()
    return EventSourceResponse(_follow(feed, scope, after=after, filters=filters), ping=HEARTBEAT_SECONDS, sep="\n")


async def _follow(feed: Feed, scope: Scope, *, after: int, filters: dict[str, Any]) -> AsyncIterator[ServerSentEvent]:
    async with feed.stream():
        while True:
            head = await run_in_threadpool(log.head_seq, scope)
            while found := await run_in_threadpool(_next, scope, after, head, filters):
                for event in found:
                    yield ServerSentEvent(_out(event).model_dump_json(), event=event.kind, id=str(event.seq))
                after = found[-1].seq
            after = max(after, head)
            await feed.wait(scope.workspace_id, above=after)


def _next(scope: Scope, after: int, head: int, filters: dict[str, Any]) -> list[Any]:
    """Events above `after`, none above `head`: what a filter leaves out up to there need not be looked at again."""
    found = log.page(scope, Start("seq", limit=AT_ONCE), after=after, **filters)
    return [event for event in found if event.seq <= head]


def _out(event: Any) -> EventOut:
    return EventOut(**event.model_dump(exclude={"workspace_id"}))
