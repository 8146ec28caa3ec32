"""Calls over one httpx transport, with retries. What is sent and how the answer is read comes from `endpoints`.

A call is tried again when no connection was made or it was cut, on 429, 502 and 503, and while its first try is still at work.
A repeated POST is safe because it carries the same `Idempotency-Key` every time. A call whose answer timed out is not repeated:
the server is busy.
"""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

import httpx
from pydantic import ValidationError

from skillhub_client import errors

T = TypeVar("T")

RETRIED_STATUS = frozenset({429, 502, 503})
CUT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""Transport errors that are tried again."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request to be made and how its answer becomes a value."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: dict[str, Any] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    """A body that is no JSON."""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Retries:
    """How often and how long. `attempts` counts the first try."""

    attempts: int = 5
    base_seconds: float = 0.2
    longest_seconds: float = 10.0
    """Longest single pause; a `Retry-After` beyond it is not waited for."""

    def pause(self, attempt: int, *, retry_after_seconds: float | None) -> float | None:
        """Seconds before the next try after failed try number `attempt` (from 1); None to give up.

        Exponential with jitter in [1/2, 1), and never before the server's `Retry-After`.
        """
        asked = retry_after_seconds or 0.0
        if attempt >= self.attempts or asked > self.longest_seconds:
            return None
        backoff = min(self.longest_seconds, self.base_seconds * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        return max(backoff, asked)


@dataclass(frozen=True)
class Exchange:
    """The tries of one call: decides after each whether it is over. Shared by the sync and the async client."""

    request: httpx.Request
    retries: Retries

    def after_answer(self, response: httpx.Response, attempt: int) -> float | None:
        """Seconds to wait before the next try; None where the answer is good. Raises where it is a final error."""
        if response.is_success:
            return None
        asked = retry_after(response)
        pause = self.retries.pause(attempt, retry_after_seconds=asked) if _may_pass(response) else None
        if pause is None:
            raise errors.from_response(response, retry_after_seconds=asked)
        return pause

    def after_failure(self, error: httpx.HTTPError, attempt: int) -> float:
        """Seconds to wait before the next try. Raises where there is none."""
        pause = self.retries.pause(attempt, retry_after_seconds=None) if isinstance(error, CUT) else None
        if pause is not None:
            return pause
        kind = errors.TimedOut if isinstance(error, httpx.TimeoutException) else errors.ConnectionFailed
        raise kind(f"{self.request.url}: {error or type(error).__name__}", request=self.request) from error


def _may_pass(response: httpx.Response) -> bool:
    """Whether the same request may do better later; a 409 only where the first try under its key is not done."""
    in_flight = response.status_code == 409 and "Retry-After" in response.headers
    return in_flight or response.status_code in RETRIED_STATUS


def checked_key(key: str) -> str:
    """The key, unless it cannot be one; the error does not repeat it."""
    if not (isinstance(key, str) and key and key.isascii() and key.isprintable() and " " not in key):
        raise errors.SkillhubError("the API key is empty, or has a line break, a space or another character that no key has")
    return key


def build_request(http: httpx.Client | httpx.AsyncClient, call: Call[Any]) -> httpx.Request:
    """The request of a call; a POST gets its `Idempotency-Key` here, once for all tries."""
    headers = dict(call.headers)
    if call.method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    params = {name: value for name, value in call.params.items() if value is not None}
    try:
        body = {"json": call.json} if call.content is None else {"content": call.content}
        return http.build_request(call.method, call.path, params=params, headers=headers, **body)
    except (TypeError, ValueError) as error:  # NaN, half a surrogate pair, an object that JSON does not know
        raise errors.refused(f"{call.method} {call.path} cannot be sent: {error}") from error


def read(call: Call[T], response: httpx.Response) -> T:
    try:
        return call.read(response)
    except (ValueError, ValidationError) as error:
        raise errors.BadAnswer(
            f"{response.request.url} did not answer as skillhub does: {error}",
            request=response.request,
            status=response.status_code,
        ) from error


def retry_after(response: httpx.Response) -> float | None:
    """Seconds of the `Retry-After` header, which holds seconds or a date; None where there is none that can be read."""
    value = response.headers.get("Retry-After", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
