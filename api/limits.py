"""A request body has a size at which it is refused, before anyone reads it into memory."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from api.problems import problem


class BodyLimit:
    """ASGI middleware: 413 for a body of more than `most` bytes, by its header, or by count where the header is missing.

    `streams` are paths whose routes read the body piece by piece, with limits of their own.
    """

    def __init__(self, app: ASGIApp, *, most: int, streams: Mapping[str, int]) -> None:
        self.app = app
        self.most = most
        self.streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.streams.get(scope["path"], self.most)
        if _declared(scope) > most:
            await problem(status=413, code="too_large", detail=_detail(most))(scope, receive, send)
        else:
            await self.app(scope, receive if scope["path"] in self.streams else self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        seen = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most:
                raise HTTPException(413, _detail(self.most))  # the one error that FastAPI lets through while it reads a body
            return message

        return counted


def _detail(most: int) -> str:
    return f"the body is larger than {most} bytes"


def _declared(scope: Scope) -> int:
    """What the header says; 0 where there is none."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length[:18]) if length.isdigit() else 0
