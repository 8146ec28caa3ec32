"""The change feed: every event once, in order, across cut connections; bounded; over when the server ends."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from skillhub_client import AsyncClient, Client, ConnectionFailed, Retries, Unauthorized

from skillhub.services.scope import Scope
from tests.api.conftest import Served

STREAM = {"Accept": "text/event-stream"}


def record(scope: Scope, count: int, *, kind: str = "note.taken", subject: str = "one") -> None:
    for _ in range(count):
        with scope.transaction() as unit:
            unit.record(kind, subject)


@contextmanager
def opened(served: Served, **request: Any) -> Iterator[httpx.Response]:
    headers = served.headers | STREAM | request.pop("headers", {})
    with httpx.stream("GET", f"{served.url}/v1/events", headers=headers, timeout=30, **request) as response:
        yield response


def ids(response: httpx.Response, count: int) -> list[int]:
    lines = (line for line in response.iter_lines() if line.startswith("id:"))
    return [int(line.removeprefix("id:")) for line in itertools.islice(lines, count)]


def test_a_stream_tells_what_was_and_what_comes(scope: Scope, served: Served) -> None:
    record(scope, 3)
    with opened(served) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        assert response.headers["X-Request-ID"]
        assert ids(response, 4) == [1, 2, 3, 4]
    with opened(served, params={"after": 4}) as response:
        record(scope, 2)
        assert ids(response, 2) == [5, 6]
    with opened(served, params={"after": 1}, headers={"Last-Event-ID": "5"}) as response:
        assert ids(response, 1) == [6]


def test_a_stream_is_narrowed_and_does_not_stop_at_what_it_leaves_out(scope: Scope, served: Served) -> None:
    with opened(served, params={"kind": "note.read", "subject_id": "two"}) as response:
        record(scope, 5)
        record(scope, 1, kind="note.read")
        record(scope, 1, kind="note.read", subject="two")
        assert ids(response, 1) == [8]


def test_events_of_another_workspace_are_not_told(scope: Scope, served: Served) -> None:
    from dataclasses import replace

    from skillhub.models import Workspace

    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    with opened(served, params={"after": 1}) as response:
        record(replace(scope, workspace_id="wsp_other"), 3)
        record(scope, 1)
        assert ids(response, 1) == [2]


@pytest.mark.parametrize(
    "request_",
    [{"params": {"sort": "-seq"}}, {"headers": {"Last-Event-ID": "x"}}, {"params": {"after": -1}}, {"params": {"b": 1}}],
)
def test_a_stream_that_makes_no_sense_is_refused(served: Served, request_: dict) -> None:
    with opened(served, **request_) as response:
        response.read()
        assert response.status_code == 422


def test_more_streams_than_there_may_be_are_refused_and_room_comes_back(scope: Scope, database_url: str) -> None:
    served = Served(scope, database_url, max_streams=1)
    served.start()
    try:
        with opened(served) as first:
            held = first.iter_lines()
            assert next(held).startswith("id:")
            with opened(served) as second:
                second.read()
                assert (second.status_code, second.headers["Retry-After"]) == (503, "5")
        with Client(served.url, served.key, retries=Retries(attempts=50)) as client:
            assert next(client.watch_events()).seq == 1
    finally:
        served.stop()


def test_a_stream_ends_when_the_server_does_and_is_resumed_when_it_is_back(scope: Scope, served: Served) -> None:
    with Client(served.url, served.key, retries=Retries(attempts=50, longest_seconds=0.5)) as client:
        watched = client.watch_events(kind="note.taken")
        record(scope, 1)
        assert next(watched).seq == 2
        served.stop()
        record(scope, 3)
        served.start()
        assert [next(watched).seq for _ in range(3)] == [3, 4, 5]


def test_the_async_client_watches_the_same(scope: Scope, served: Served) -> None:
    async def watch() -> list[int]:
        async with AsyncClient(served.url, served.key) as client:
            seen = []
            async for event in client.watch_events(after=1):
                seen.append(event.seq)
                if len(seen) == 3:
                    break
                await asyncio.to_thread(record, scope, 1)
            return seen

    record(scope, 1)
    assert asyncio.run(watch()) == [2, 3, 4]


def test_a_watch_gives_up_where_waiting_does_not_help(served: Served) -> None:
    quick = Retries(attempts=2, base_seconds=0.01)
    with Client(served.url, "shk_wrong", retries=quick) as client, pytest.raises(Unauthorized):
        next(client.watch_events())
    with Client("http://127.0.0.1:1", "shk_wrong", retries=quick) as client, pytest.raises(ConnectionFailed):
        next(client.watch_events())


@pytest.mark.parametrize("cut_after", [1, 2, 5])
def test_each_event_comes_once_however_often_the_line_is_cut(
    scope: Scope, served: Served, cut_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy of ours drops the connection after some events."""
    record(scope, 9)
    original: Callable[..., Iterator[str]] = httpx.Response.iter_lines

    def cut(response: httpx.Response) -> Iterator[str]:
        for number, line in enumerate(original(response)):
            if number >= 4 * cut_after + 2:  # in the middle of an event
                raise httpx.ReadError("cut")
            yield line

    monkeypatch.setattr(httpx.Response, "iter_lines", cut)
    with Client(served.url, served.key, retries=Retries(base_seconds=0.01)) as client:
        assert [event.seq for event in itertools.islice(client.watch_events(), 10)] == list(range(1, 11))
