"""The one way to page: a cursor that holds list, order and sort key of the last row, opaque to the caller.

`PageDep` is for a list with one order; `sorted_by(orders, default=...)` makes the dependency of a list that offers several.
"""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Depends, Query, Request
from pydantic import BaseModel

from api.schemas.base import Moment
from skillhub.errors import Invalid
from skillhub.safety.text import storable
from skillhub.store.keyset import Key, Orders, Start

Item = TypeVar("Item")
Row = TypeVar("Row")
MAX_LIMIT = 200
MAX_CURSOR = 2000
MAX_INTEGER = 2**63 - 1


class Page(BaseModel, Generic[Item]):
    """Some rows, and where to go on; `next_cursor` is null on the last page."""

    items: list[Item]
    next_cursor: str | None


@dataclass(frozen=True)
class PageQuery:
    """What the caller asked for."""

    place: str
    """The list: a cursor is good only where it was given."""
    limit: int
    sort: str = ""
    columns: tuple[str, ...] = ()
    """What makes the order, where the list offers several."""
    key: Key | None = None
    """Sort key of the last row of the page before; None for the first page."""

    @property
    def after(self) -> str | None:
        """`key` where it is one text."""
        return None if self.key is None else str(self.key[0])

    @property
    def fetch(self) -> int:
        """Rows to read: one more than shown tells whether there is a next page."""
        return self.limit + 1

    @property
    def start(self) -> Start:
        """The same for `store.keyset`."""
        return Start(self.sort, self.key, self.fetch)

    def page(
        self, rows: Sequence[Row], *, item: Callable[[Row], Item], key: Callable[[Row], object] | None = None,
        row: Callable[[Row], Any] = lambda row: row,
    ) -> Page[Item]:  # fmt: skip
        """`rows` were read with `fetch`; `item(row)` is what the caller sees of one. Its sort key is `key(row)`, else
        it is read from `row(row)`, the table's."""
        shown = rows[: self.limit]
        if len(rows) <= self.limit:
            return Page(items=[item(each) for each in shown], next_cursor=None)
        last = (key(shown[-1]),) if key else tuple(getattr(row(shown[-1]), name) for name in self.columns)
        return Page(items=[item(each) for each in shown], next_cursor=self._encode(last))

    def _encode(self, key: tuple[object, ...]) -> str:
        text = json.dumps([self.place, self.sort, *key], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR, description="`next_cursor` of the page before")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Most items of a page")]


def get_page_query(request: Request, cursor: Cursor = None, limit: Limit = 50) -> PageQuery:
    return PageQuery(request.url.path, limit, key=_decode(cursor, place=request.url.path, sort=""))


PageDep = Annotated[PageQuery, Depends(get_page_query)]


def sorted_by(orders: Orders, *, default: str) -> Any:
    """The dependency of a list that can be sorted by each of `orders`, up or (with `-`) down."""
    sorts = tuple(sign + name for name in orders for sign in ("", "-"))
    Sort = Annotated[Literal[sorts], Query(description="Order; `-` means downwards")]

    def get(request: Request, sort: Sort = default, cursor: Cursor = None, limit: Limit = 50) -> PageQuery:
        columns = orders[sort.removeprefix("-")]
        return PageQuery(request.url.path, limit, sort, columns, _decode(cursor, place=request.url.path, sort=sort))

    return Depends(get)


Created = dict[str, datetime | None]
Time = Annotated[Moment | None, Query(description="A time with its zone; the bound itself is left out")]


def get_created(created_after: Time = None, created_before: Time = None) -> Created:
    """Bounds in time, for lists of things that are made and kept."""
    return {"created_after": created_after, "created_before": created_before}


CreatedDep = Annotated[Created, Depends(get_created)]


def _decode(cursor: str | None, *, place: str, sort: str) -> Key | None:
    """The key in a cursor that this list gave in this order."""
    if cursor is None:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        there, order, *key = found
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError) as error:
        raise _bad_cursor("is not one of ours") from error
    if not key or not all(_is_key(part) for part in key):
        raise _bad_cursor("is not one of ours")
    if (there, order) != (place, sort):
        raise _bad_cursor("was given by another list, or in another order")
    return tuple(key)


def _is_key(part: object) -> bool:
    if isinstance(part, str):
        return storable(part) == part
    return type(part) in (int, float) and abs(part) <= MAX_INTEGER


def _bad_cursor(why: str) -> Invalid:
    return Invalid(f"this cursor {why}", path="/query/cursor")
