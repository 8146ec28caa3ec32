"""Reading answers and writing bodies and paths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from skillhub_client.errors import refused

A = TypeVar("A", bound=BaseModel)


def as_(model: type[A]) -> Callable[[httpx.Response], A]:
    return lambda response: model.model_validate_json(response.content)


def as_bytes(response: httpx.Response) -> bytes:
    return response.content


def as_nothing(response: httpx.Response) -> None:
    return None


def part(value: str) -> str:
    """A name as one part of a path, whatever it contains; it may not be empty."""
    if not isinstance(value, str) or not value:
        raise refused(f"a name or id must be a text that is not empty, not {value!r}")
    return quote(value, safe="")


def strings(values: Sequence[str] | None) -> list[str] | None:
    """A list of strings; one string in its place would be read letter by letter."""
    if values is None:
        return None
    if isinstance(values, str):
        raise refused(f"a list of strings is needed here, not one string: [{values!r}]")
    listed = _listed(values)
    if wrong := [value for value in listed if not isinstance(value, str)]:
        raise refused(f"a list of strings is needed here; {wrong[0]!r} is none")
    return listed


def plain(value: BaseModel | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if not isinstance(value, Mapping):
        raise refused(f"a model or a mapping is needed here, not {value!r}")
    return dict(value)


def plain_list(values: Iterable[BaseModel | Mapping[str, Any]]) -> list[dict[str, Any] | None]:
    if isinstance(values, Mapping | BaseModel):
        raise refused(f"a list is needed here, not one {type(values).__name__}")
    return [plain(value) for value in _listed(values)]


def _listed(values: Iterable[Any]) -> list[Any]:
    try:
        return list(values)
    except TypeError as error:
        raise refused(f"a list is needed here, not {values!r}") from error


def given(body: dict[str, Any]) -> dict[str, Any]:
    """Without what the caller left open, so that the server's default holds."""
    return {name: value for name, value in body.items() if value is not None}
