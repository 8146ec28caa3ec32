"""What every route has without asking: only known query parameters, storable values, `fields`, `ETag` and `If-None-Match`.

The OpenAPI document (`api.contract`) is what is known of a route; so what is documented and what is checked cannot differ.
"""

import json
from collections.abc import Collection
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import fields
from api.contract import MAX_VALUE
from skillhub.errors import Invalid
from skillhub.hashing import sha256_bytes
from skillhub.safety.text import storable

CACHE = "private, no-cache"
"""Kept only by the caller, and asked about each time: the answer depends on the key and may have changed."""


async def keep(request: Request) -> None:
    """Dependency of every documented route. Invalid, with `/query/NAME` or `/path/NAME`, for what it does not know or hold."""
    document = request.app.openapi()
    operation = document["paths"].get(request.scope["route"].path, {}).get(request.method.lower())
    if operation is None:
        return
    _check_values(request)
    parameters = {item["name"]: item["schema"] for item in operation["parameters"] if item["in"] == "query"}
    _check_names(request, parameters.keys())
    _check_once(request, {name for name, schema in parameters.items() if not _is_list(schema)})
    if "fields" in request.query_params:
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        request.state.fields = fields.parse(request.query_params["fields"], schema, document["components"]["schemas"])


def _is_list(schema: dict[str, Any]) -> bool:
    return any(part.get("type") == "array" for part in [schema, *schema.get("anyOf", [])])


def _check_once(request: Request, single: set[str]) -> None:
    twice = [name for name in request.query_params if name in single and len(request.query_params.getlist(name)) > 1]
    if twice:
        raise Invalid.at([(f"/query/{name}", "given more than once") for name in twice])


def _check_names(request: Request, known: Collection[str]) -> None:
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        said = f"known are {', '.join(sorted(known))}" if known else "there are none here"
        raise Invalid.at([(f"/query/{storable(name)}", f"not a query parameter of this route; {said}") for name in unknown])


def _check_values(request: Request) -> None:
    given = [("query", *item) for item in request.query_params.multi_items()]
    given += [("path", name, str(value)) for name, value in request.path_params.items()]
    wrong = [(f"/{where}/{storable(name)}", why) for where, name, value in given if (why := _fault(value))]
    if wrong:
        raise Invalid.at(wrong)


def _fault(value: str) -> str | None:
    if storable(value) != value:
        return "a NUL character or half a surrogate pair cannot be stored or looked up"
    return f"longer than {MAX_VALUE} characters" if len(value) > MAX_VALUE else None


class Representation:
    """ASGI middleware over the JSON answers of GET: the fields asked for, a strong `ETag` of the bytes, 304 where it is known.

    Anything else, streams among it, passes as it comes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            scope.setdefault("state", {})
            send = _Answer(scope, send)
        await self.app(scope, receive, send)


class _Answer:
    """One answer on its way: held back until it is whole, where it is JSON with status 200."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope, self.send = scope, send
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_json(message):
            self.start = message
        elif self.start is None or message["type"] != "http.response.body":
            await self.send(message)
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self.start)

    async def _finish(self, start: Message) -> None:
        body = self._projected()
        headers = MutableHeaders(scope=start)
        headers.setdefault("ETag", f'"{sha256_bytes(body)[:32]}"')
        headers.setdefault("Cache-Control", CACHE)
        headers["Content-Length"] = str(len(body))
        if _matches(Headers(scope=self.scope).get("If-None-Match"), headers["ETag"]):
            start["status"], body = 304, b""
            del headers["Content-Length"], headers["Content-Type"]
        await self.send(start)
        await self.send({"type": "http.response.body", "body": body})

    def _projected(self) -> bytes:
        paths = self.scope["state"].get("fields")
        return self.body if paths is None else _dump(fields.project(json.loads(self.body), paths))


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _is_json(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("content-type", "").startswith("application/json")


def _matches(header: str | None, etag: str) -> bool:
    """Whether `If-None-Match` names this answer; a weak tag counts, as RFC 9110 has it."""
    tags = [tag.strip().removeprefix("W/") for tag in (header or "").split(",")]
    return "*" in tags or etag in tags
