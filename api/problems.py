"""Every error as a problem document (RFC 9457), rendered in one place."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException

from skillhub.errors import Invalid, SkillhubError, Unauthorized, Unavailable
from skillhub.safety.text import storable

log = logging.getLogger("skillhub.api")


def install(app: FastAPI) -> None:
    app.add_exception_handler(SkillhubError, _skillhub_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(OperationalError, _database_error)
    app.add_exception_handler(DataError, _data_error)
    app.add_exception_handler(UnicodeEncodeError, _text_error)
    app.add_exception_handler(RecursionError, _depth_error)
    app.add_exception_handler(Exception, _unexpected)


def problem(*, status: int, code: str, detail: str, headers: dict[str, str] | None = None, **extra: object) -> JSONResponse:
    body = {"type": f"urn:skillhub:{code}", "title": code.replace("_", " "), "status": status, "code": code}
    body["detail"] = storable(detail)  # it may quote what could not be stored
    return JSONResponse(body | extra, status_code=status, headers=headers, media_type="application/problem+json")


async def _skillhub_error(request: Request, error: SkillhubError) -> JSONResponse:
    headers: dict[str, str] = {}
    if isinstance(error, Unavailable):
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    extra = {"errors": error.errors} if isinstance(error, Invalid) else {}
    return problem(status=error.status, code=error.code, detail=error.detail, headers=headers, **extra)


async def _validation_error(request: Request, error: RequestValidationError) -> JSONResponse:
    errors = [
        {"path": "/" + "/".join(str(part) for part in item["loc"]), "message": _said(item["msg"])} for item in error.errors()
    ]
    return problem(status=422, code="invalid", detail=f"{errors[0]['path']}: {errors[0]['message']}", errors=errors)


def _said(message: str) -> str:
    """Pydantic's words for people who do not know pydantic."""
    return message.removeprefix("Value error, ")


async def _http_error(request: Request, error: HTTPException) -> JSONResponse:
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    return problem(status=error.status_code, code=code, detail=str(error.detail), headers=dict(error.headers or {}))


async def _database_error(request: Request, error: OperationalError) -> JSONResponse:
    log.warning("database not reachable: %s", error.orig)
    return await _skillhub_error(request, Unavailable("the database is not reachable", retry_after_seconds=2))


async def _data_error(request: Request, error: DataError) -> JSONResponse:
    """A NUL in a path or query, a number that no column holds: what PostgreSQL refuses to read as a value."""
    return await _skillhub_error(request, Invalid(f"a value cannot be stored or looked up: {error.orig}"))


async def _text_error(request: Request, error: UnicodeEncodeError) -> JSONResponse:
    """Half a surrogate pair: JSON can carry it, UTF-8 and PostgreSQL cannot."""
    around = error.object[max(0, error.start - 20) : error.end + 20]
    return await _skillhub_error(request, Invalid(f"text with half a surrogate pair cannot be stored: {around!r}"))


async def _depth_error(request: Request, error: RecursionError) -> JSONResponse:
    return await _skillhub_error(request, Invalid("the input is nested too deeply"))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.exception("unexpected error in %s %s", request.method, request.url.path)
    return problem(status=500, code="internal", detail="an unexpected error; the server's log has it")
