"""Every error as a problem document (RFC 9457), rendered in one place."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException

from api import requests
from api.schemas.base import PATTERNS
from skillhub.errors import Invalid, SkillhubError, Unauthorized, Unavailable
from skillhub.safety.text import storable

log = logging.getLogger("skillhub.api")

HTTP_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
"""Codes of what the web framework refuses before a route is found; any other is `http_error`."""
_OWN_WORDS = {"string_unicode": "half a surrogate pair cannot be stored"}


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
    body = document(status=status, code=code, detail=detail, **extra)
    headers = {requests.HEADER: requests.current()} | (headers or {})
    return JSONResponse(body, status_code=status, headers=headers, media_type="application/problem+json")


def document(*, status: int, code: str, detail: str, **extra: object) -> dict[str, Any]:
    """The problem document itself, for an answer of many parts."""
    body = {"type": f"urn:skillhub:{code}", "title": code.replace("_", " "), "status": status, "code": code}
    return _sendable(body | {"detail": detail, "request_id": requests.current()} | extra)


def of(error: SkillhubError) -> dict[str, Any]:
    """The problem document of an error."""
    extra = {"errors": list(error.errors)} if error.errors else {}
    return document(status=error.status, code=error.code, detail=error.detail, **extra)


def _sendable(value: Any) -> Any:
    """The same, where a text quotes what could not be stored: it cannot be sent either."""
    if isinstance(value, dict):
        return {key: _sendable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    return storable(value) if isinstance(value, str) else value


async def _skillhub_error(request: Request, error: SkillhubError) -> JSONResponse:
    return answer(error)


def answer(error: SkillhubError) -> JSONResponse:
    """The answer that an error is."""
    headers: dict[str, str] = {}
    if error.retry_after_seconds is not None:
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    extra = {"errors": list(error.errors)} if error.errors else {}
    return problem(status=error.status, code=error.code, detail=error.detail, headers=headers, **extra)


async def _validation_error(request: Request, error: RequestValidationError) -> JSONResponse:
    return answer(invalid(error))


def invalid(error: RequestValidationError) -> Invalid:
    """The same as an error of ours, in words for people who do not know pydantic."""
    errors = [{"path": "/" + "/".join(str(part) for part in item["loc"]), "message": _said(item)} for item in error.errors()]
    return Invalid(f"{errors[0]['path']}: {errors[0]['message']}", errors=errors)


def _said(fault: dict) -> str:
    said = PATTERNS.get(fault.get("ctx", {}).get("pattern")) or _OWN_WORDS.get(fault["type"])
    return said or fault["msg"].removeprefix("Value error, ")


async def _http_error(request: Request, error: HTTPException) -> JSONResponse:
    if error.status_code == 400:  # what FastAPI says of a body that is not UTF-8
        return answer(Invalid("the body is not JSON in UTF-8", path="/body"))
    code = HTTP_CODES.get(error.status_code, "http_error")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request)) or headers.get("Allow", "")
    return problem(status=error.status_code, code=code, detail=str(error.detail), headers=headers)


def _methods(request: Request) -> list[str]:
    """The methods of a path; the framework names only those of the first route that has it."""
    path = getattr(request.scope.get("route"), "path", None)
    return sorted(method.upper() for method in request.app.openapi()["paths"].get(path, {}))


async def _database_error(request: Request, error: OperationalError) -> JSONResponse:
    log.warning("database not reachable: %s", error.orig)
    return answer(Unavailable("the database is not reachable", retry_after_seconds=2))


async def _data_error(request: Request, error: DataError) -> JSONResponse:
    """A NUL in a path or query, a number that no column holds: what PostgreSQL refuses to read as a value."""
    log.info("refused by the database: %s", error.orig)
    why = "a value cannot be stored or looked up: it has a NUL character, or is a number too large"
    return answer(Invalid(why))


async def _text_error(request: Request, error: UnicodeEncodeError) -> JSONResponse:
    """Half a surrogate pair: JSON can carry it, UTF-8 and PostgreSQL cannot."""
    around = error.object[max(0, error.start - 20) : error.end + 20]
    return answer(Invalid(f"text with half a surrogate pair cannot be stored: {around!r}"))


async def _depth_error(request: Request, error: RecursionError) -> JSONResponse:
    return answer(Invalid("the input is nested too deeply"))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.exception("unexpected error in %s %s", request.method, request.url.path)
    return problem(status=500, code="internal", detail="an unexpected error; the server's log has it")
