"""The change feed: those who wait for events of a workspace are woken when there are some. One question for all who wait."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.concurrency import run_in_threadpool

from skillhub.errors import Unavailable

log = logging.getLogger("skillhub.feed")


class Feed:
    """Open streams of this process. `heads()` tells `{workspace_id: seq of its newest event}`; it is only asked while a stream
    waits, `pause_seconds` apart, however many they are."""

    def __init__(self, heads: Callable[[], dict[str, int]], *, most: int, pause_seconds: float = 0.25) -> None:
        self._heads = heads
        self._most = most
        self._pause_seconds = pause_seconds
        self._open = 0
        self._known: dict[str, int] = {}
        self._news = asyncio.Condition()
        self._asking: asyncio.Task[None] | None = None

    def check_room(self) -> None:
        """Unavailable where as many streams are open as may be."""
        if self._open >= self._most:
            raise Unavailable(f"all {self._most} streams of this server are taken", retry_after_seconds=5)

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[None]:
        """One more stream is open."""
        self._open += 1
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        try:
            yield
        finally:
            self._open -= 1
            if self._open == 0:
                self._asking.cancel()
                self._asking = None

    async def wait(self, workspace_id: str, *, above: int) -> None:
        """Until the workspace has an event above this `seq`."""
        async with self._news:
            await self._news.wait_for(lambda: self._known.get(workspace_id, 0) > above)

    async def _ask(self) -> None:
        while True:
            try:
                known = await run_in_threadpool(self._heads)
            except Exception as error:
                log.warning("the change feed asks again: %s", error)
            else:
                await self._tell(known)
            await asyncio.sleep(self._pause_seconds)

    async def _tell(self, known: dict[str, int]) -> None:
        if known != self._known:
            async with self._news:
                self._known = known
                self._news.notify_all()
