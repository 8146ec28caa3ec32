"""Reading answers and writing bodies and paths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

A = TypeVar("A", bound=BaseModel)


def as_(model: type[A]) -> Callable[[httpx.Response], A]:
    return lambda response: model.model_validate_json(response.content)


def as_bytes(response: httpx.Response) -> bytes:
    return response.content


def as_nothing(response: httpx.Response) -> None:
    return None


def part(value: str) -> str:
    """A name as one part of a path, whatever it contains; it may not be empty."""
    if not value:
        raise ValueError("a name or id is empty")
    return quote(value, safe="")


def strings(values: Sequence[str] | None) -> list[str] | None:
    """A list of strings; one string in its place would be read letter by letter."""
    if isinstance(values, str):
        raise TypeError(f"a list of strings is needed here, not one string: [{values!r}]")
    return None if values is None else list(values)


def plain(value: BaseModel | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else dict(value)


def plain_list(values: Iterable[BaseModel | Mapping[str, Any]]) -> list[dict[str, Any] | None]:
    return [plain(value) for value in values]


def given(body: dict[str, Any]) -> dict[str, Any]:
    """Without what the caller left open, so that the server's default holds."""
    return {name: value for name, value in body.items() if value is not None}
