"""Walking through all pages of a list."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

from skillhub_client.models import Page

T = TypeVar("T")


def every(method: Callable[..., Page[T]], *args: Any, **filters: Any) -> Iterator[T]:
    """All items of a list method: `every(client.list_episodes, slice="boil")`."""
    cursor = None
    while True:
        page = method(*args, **filters, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


async def every_async(method: Callable[..., Awaitable[Page[T]]], *args: Any, **filters: Any) -> AsyncIterator[T]:
    """The same over an `AsyncClient`."""
    cursor = None
    while True:
        page = await method(*args, **filters, cursor=cursor)
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return
