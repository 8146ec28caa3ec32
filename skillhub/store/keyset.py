"""Lists page by page: filters, one of the orders a list offers, and the rows after the last one seen. In: values; out: rows.

An order is a tuple of columns that is unique within the list and has an index, so a page costs the same wherever it starts, and
rows that come or go meanwhile neither repeat nor hide others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import tuple_
from sqlmodel import Session, SQLModel, col
from sqlmodel.sql.expression import SelectOfScalar

from skillhub.errors import Invalid

M = TypeVar("M", bound=SQLModel)
Key = tuple[str | int | float, ...]
Orders = Mapping[str, tuple[str, ...]]
"""What a list may be sorted by -> the columns that make that order."""
BY_TIME: Orders = {"created_at": ("id",)}
"""Ids of one kind sort by time of creation."""


@dataclass(frozen=True)
class Start:
    """Where a page starts: in which order (`name`, or `-name` downwards), after which key, and how many rows at most."""

    sort: str
    after: Key | None = None
    limit: int = 50


def page(session: Session, query: SelectOfScalar[M], model: type[M], *, orders: Orders, start: Start) -> Sequence[M]:
    """The rows of `query` from `start` on. Invalid where the key is not one of this order."""
    names = orders[start.sort.removeprefix("-")]
    columns = [col(getattr(model, name)) for name in names]
    down = start.sort.startswith("-")
    if start.after is not None:
        _check_key(start.after, [model.model_fields[name].annotation for name in names])
        here, there = tuple_(*columns), tuple_(*start.after)
        query = query.where(here < there if down else here > there)
    return session.exec(query.order_by(*(column.desc() if down else column for column in columns)).limit(start.limit)).all()


def filtered(query: SelectOfScalar[M], model: type[M], filters: Mapping[str, Any]) -> SelectOfScalar[M]:
    """`query` where each column named has its value; None asks for nothing. `created_after` and `created_before` are bounds in
    time (not included), `prefix` is how the name begins, `min_score` the least score."""
    for name, value in filters.items():
        if value is not None:
            query = query.where(_condition(model, name, value))
    return query


def _condition(model: type[SQLModel], name: str, value: Any) -> Any:
    match name:
        case "created_after":
            return col(model.created_at) > value
        case "created_before":
            return col(model.created_at) < value
        case "min_score":
            return col(model.score) >= value
        case "prefix":
            return col(model.name).startswith(value, autoescape=True)
    return col(getattr(model, name)) == value


def _check_key(key: Key, kinds: Sequence[Any]) -> None:
    """Invalid for values that PostgreSQL could not compare with columns of these types."""
    if [type(part) for part in key] != list(kinds):
        raise Invalid("this is not a cursor of this list", path="/query/cursor")
