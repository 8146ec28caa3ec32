"""The one error tree of the client.

SkillhubError               carries `code`, `status` (None where no answer came) and `request`
├── ConnectionFailed        no answer came, after all retries
├── TimedOut                the server took too long, or a wait ended before its job did
├── BadAnswer               an answer that is not skillhub's (a proxy's page, another version)
└── ApiError                a problem document (RFC 9457)
    ├── Unauthorized        401
    ├── Forbidden           403
    ├── NotFound            404
    ├── Conflict            409
    ├── PreconditionFailed  412
    ├── TooLarge            413
    ├── Invalid             422  (`errors`: [{path, message}]), or refused here before it was sent (`status` is None)
    ├── RateLimited         429  (`retry_after_seconds`)
    ├── Unavailable         502, 503  (`retry_after_seconds`)
    └── ServerError         any other 5xx
"""

from typing import Any

import httpx


class SkillhubError(Exception):
    """Something went wrong between this client and skillhub."""

    code = "client_error"

    def __init__(
        self, detail: str, *, request: httpx.Request | None = None, status: int | None = None, code: str | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.request = request
        self.status = status
        self.code = code or type(self).code


class ConnectionFailed(SkillhubError):
    """No answer came, after all retries."""

    code = "connection_failed"


class TimedOut(SkillhubError):
    """The server took too long, or a wait ended before its job did."""

    code = "timed_out"


class BadAnswer(SkillhubError):
    """The answer is not one of skillhub's."""

    code = "bad_answer"


class ApiError(SkillhubError):
    """The server refused the request."""

    code = "http_error"

    def __init__(self, detail: str, *, problem: dict[str, Any], retry_after_seconds: float | None = None, **known: Any) -> None:
        super().__init__(detail, **known)
        self.problem = problem
        self.errors: list[dict[str, str]] = problem.get("errors") or []
        self.retry_after_seconds = retry_after_seconds


class Unauthorized(ApiError):
    """401: the API key is missing, unknown or revoked."""


class Forbidden(ApiError):
    """403: this API key may not do that."""


class NotFound(ApiError):
    """404: there is no such thing in this workspace."""


class Conflict(ApiError):
    """409: the request contradicts what is stored."""


class PreconditionFailed(ApiError):
    """412: the thing changed since you read it."""


class TooLarge(ApiError):
    """413: the input is larger than the limit."""


class Invalid(ApiError):
    """422: the input is not valid; `errors` names the fields. Without `status` where it was refused before it was sent."""

    code = "invalid"


class RateLimited(ApiError):
    """429: too many requests."""


class Unavailable(ApiError):
    """502 or 503: not possible right now."""


class ServerError(ApiError):
    """Any other 5xx: the server's fault."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    413: TooLarge,
    422: Invalid,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
}


def refused(detail: str) -> Invalid:
    """What the server would refuse, or could not even be sent."""
    return Invalid(detail, problem={"errors": [{"path": "", "message": detail}]})


def from_response(response: httpx.Response, *, retry_after_seconds: float | None = None) -> ApiError:
    """The error of an answer with status 4xx or 5xx; reads the problem document where there is one."""
    problem = _problem(response)
    fallback = ServerError if response.status_code >= 500 else ApiError
    return _BY_STATUS.get(response.status_code, fallback)(
        str(problem.get("detail") or f"{response.status_code} {response.reason_phrase}"),
        problem=problem,
        retry_after_seconds=retry_after_seconds,
        request=response.request,
        status=response.status_code,
        code=problem.get("code"),
    )


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
