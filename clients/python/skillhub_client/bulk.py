"""Many skills at once, as streams: neither the lines nor the answers are ever held whole.

A stream is not tried again by itself. Sending the same lines again changes nothing, so the caller may.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

import httpx

from skillhub_client import errors
from skillhub_client.transport import retry_after

IMPORT, EXPORT = "/v1/imports/ndjson", "/v1/exports/ndjson"
_HEADERS = {"Content-Type": "application/x-ndjson"}


def import_ndjson(http: httpx.Client, lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """What became of each line `{name, document, kind?, files?, label?, message?}`, in order."""
    content = map(_encoded, lines)
    yield from _answers(http, http.build_request("POST", IMPORT, content=content, headers=_HEADERS))


def export_ndjson(http: httpx.Client, **filters: Any) -> Iterator[dict[str, Any]]:
    """Every skill under a label, as lines that `import_ndjson` takes."""
    yield from _answers(http, http.build_request("GET", EXPORT, params=_given(filters)))


async def import_ndjson_async(http: httpx.AsyncClient, lines: Iterable[Mapping[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """The same, to be awaited."""

    async def content() -> AsyncIterator[bytes]:
        for line in lines:
            yield _encoded(line)

    async for item in _answers_async(http, http.build_request("POST", IMPORT, content=content(), headers=_HEADERS)):
        yield item


async def export_ndjson_async(http: httpx.AsyncClient, **filters: Any) -> AsyncIterator[dict[str, Any]]:
    """The same, to be awaited."""
    async for item in _answers_async(http, http.build_request("GET", EXPORT, params=_given(filters))):
        yield item


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(line)).encode() + b"\n"


def _given(filters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if value is not None}


def _answers(http: httpx.Client, request: httpx.Request) -> Iterator[dict[str, Any]]:
    try:
        response = http.send(request, stream=True)
        try:
            if not response.is_success:
                response.read()
                raise errors.from_response(response, retry_after_seconds=retry_after(response))
            yield from map(json.loads, response.iter_lines())
        finally:
            response.close()
    except httpx.HTTPError as error:
        raise errors.ConnectionFailed(f"{request.url}: {error}", request=request) from error


async def _answers_async(http: httpx.AsyncClient, request: httpx.Request) -> AsyncIterator[dict[str, Any]]:
    try:
        response = await http.send(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise errors.from_response(response, retry_after_seconds=retry_after(response))
            async for line in response.aiter_lines():
                yield json.loads(line)
        finally:
            await response.aclose()
    except httpx.HTTPError as error:
        raise errors.ConnectionFailed(f"{request.url}: {error}", request=request) from error
