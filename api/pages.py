"""The one way to page: a cursor that holds the sort key of the last row, opaque to the caller."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel

from skillhub.errors import Invalid

Item = TypeVar("Item")
Row = TypeVar("Row")
MAX_LIMIT = 200


class Page(BaseModel, Generic[Item]):
    """Some rows, and where to go on; `next_cursor` is null on the last page."""

    items: list[Item]
    next_cursor: str | None


@dataclass(frozen=True)
class PageQuery:
    """What the caller asked for."""

    after: str | None
    """Sort key of the last row of the page before; None for the first page."""
    limit: int

    @property
    def fetch(self) -> int:
        """Rows to read: one more than shown tells whether there is a next page."""
        return self.limit + 1

    @property
    def after_number(self) -> int | None:
        """`after` where the sort key is a number."""
        if self.after is None:
            return None
        if not self.after.isascii() or not self.after.isdigit() or len(self.after) > 18:
            raise _bad_cursor()
        return int(self.after)

    def page(self, rows: Sequence[Row], *, key: Callable[[Row], object], item: Callable[[Row], Item]) -> Page[Item]:
        """`rows` were read with `fetch`; `key(row)` is its sort key, `item(row)` what the caller sees of it."""
        shown = rows[: self.limit]
        more = len(rows) > self.limit
        return Page(items=[item(row) for row in shown], next_cursor=_encode(str(key(shown[-1]))) if more else None)


def get_page_query(
    cursor: Annotated[str | None, Query(max_length=500, description="`next_cursor` of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 50,
) -> PageQuery:
    return PageQuery(after=_decode(cursor) if cursor else None, limit=limit)


PageDep = Annotated[PageQuery, Depends(get_page_query)]


def _encode(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def _decode(cursor: str) -> str:
    try:
        key = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise _bad_cursor() from error
    if "\0" in key:
        raise _bad_cursor()
    return key


def _bad_cursor() -> Invalid:
    return Invalid("this is not a cursor of ours", path="/query/cursor")
