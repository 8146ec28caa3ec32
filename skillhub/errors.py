"""The one error tree. Every error has a stable `code`; the API renders it as a problem document (RFC 9457).

SkillhubError
├── NotFound            404
├── Conflict            409
│   ├── InFlight        409  (carries `retry_after_seconds`)
│   └── MergeConflict   409  (carries `errors`, a part that contradicts in each)
├── PreconditionFailed  412
├── Invalid             422  (carries `errors`: [{path, message}])
├── Unauthorized        401
├── Forbidden           403
├── TooLarge            413
├── RateLimited         429  (carries `retry_after_seconds`)
└── Unavailable         503  (carries `retry_after_seconds`)
"""

from collections.abc import Sequence
from typing import Any, Self

Fault = dict[str, Any]
"""`path`, `message` and, where it is known, `line`."""


class SkillhubError(Exception):
    """Something went wrong in skillhub."""

    code = "internal"
    status = 500
    retry_after_seconds: int | None = None
    """Where the same request may do better after a while."""
    errors: Sequence[Fault] = ()
    """Where each fault is."""

    def __init__(self, detail: str | None = None, *, code: str | None = None) -> None:
        super().__init__(detail or type(self).__doc__)
        self.detail = str(self)
        self.code = code or type(self).code

    def within(self, place: str) -> Self:
        """The same error, of a part that stands at `place` of a larger input."""
        faults = self.errors or [{"path": "", "message": self.detail}]
        self.errors = [fault | {"path": place + fault["path"]} for fault in faults]
        self.detail = f"{place}: {self.detail}"
        return self


class NotFound(SkillhubError):
    """There is no such thing in this workspace."""

    code = "not_found"
    status = 404


class Conflict(SkillhubError):
    """The request contradicts what is stored."""

    code = "conflict"
    status = 409


class InFlight(Conflict):
    """The first request under this Idempotency-Key is not done yet."""

    code = "in_flight"
    retry_after_seconds = 1


class MergeConflict(Conflict):
    """Two versions changed the same part, each in its own way."""

    code = "merge_conflict"

    def __init__(self, errors: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{fault['path']}: {fault['message']}" for fault in errors))
        self.errors = errors


class PreconditionFailed(SkillhubError):
    """The thing changed since you read it."""

    code = "precondition_failed"
    status = 412


class Invalid(SkillhubError):
    """The input is not valid."""

    code = "invalid"
    status = 422

    def __init__(self, detail: str | None = None, *, path: str = "", errors: Sequence[Fault] = ()) -> None:
        super().__init__(detail)
        self.errors = errors or [{"path": path, "message": self.detail}]

    @classmethod
    def at(cls, faults: list[tuple[str, str]]) -> "Invalid":
        """Several faults, each `(path, message)`; the first is the detail."""
        errors = [{"path": path, "message": message} for path, message in faults]
        return cls(f"{errors[0]['path']}: {errors[0]['message']}", errors=errors)


class Unauthorized(SkillhubError):
    """A valid API key is needed."""

    code = "unauthorized"
    status = 401


class Forbidden(SkillhubError):
    """This API key may not do that."""

    code = "forbidden"
    status = 403


class TooLarge(SkillhubError):
    """The input is larger than the limit."""

    code = "too_large"
    status = 413


class RateLimited(SkillhubError):
    """Too many requests; slow down."""

    code = "rate_limited"
    status = 429

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(SkillhubError):
    """Not possible right now; try again."""

    code = "unavailable"
    status = 503

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds
