"""The one error tree. Every error has a stable `code`; the API renders it as a problem document (RFC 9457).

SkillhubError
├── NotFound            404
├── Conflict            409
├── PreconditionFailed  412
├── Invalid             422  (carries `errors`: [{path, message}])
├── Unauthorized        401
├── Forbidden           403
├── TooLarge            413
└── Unavailable         503  (carries `retry_after_seconds`)
"""


class SkillhubError(Exception):
    """Something went wrong in skillhub."""

    code = "internal"
    status = 500

    def __init__(self, detail: str | None = None, *, code: str | None = None) -> None:
        super().__init__(detail or type(self).__doc__)
        self.detail = str(self)
        self.code = code or type(self).code


class NotFound(SkillhubError):
    """There is no such thing in this workspace."""

    code = "not_found"
    status = 404


class Conflict(SkillhubError):
    """The request contradicts what is stored."""

    code = "conflict"
    status = 409


class PreconditionFailed(SkillhubError):
    """The thing changed since you read it."""

    code = "precondition_failed"
    status = 412


class Invalid(SkillhubError):
    """The input is not valid."""

    code = "invalid"
    status = 422

    def __init__(self, detail: str | None = None, *, path: str = "", errors: list[dict] | None = None) -> None:
        super().__init__(detail)
        self.errors = errors or [{"path": path, "message": self.detail}]


class Unauthorized(SkillhubError):
    """A valid API key is needed."""

    code = "unauthorized"
    status = 401


class Forbidden(SkillhubError):
    """This API key may not do that."""

    code = "forbidden"
    status = 403


class RateLimited(SkillhubError):
    """This API key has used up its allowance; wait."""

    code = "rate_limited"
    status = 429

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class TooLarge(SkillhubError):
    """The input is larger than the limit."""

    code = "too_large"
    status = 413


class Unavailable(SkillhubError):
    """Not possible right now; try again."""

    code = "unavailable"
    status = 503

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds
