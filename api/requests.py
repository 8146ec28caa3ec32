"""Every answer carries the id of its request, taken from the caller where it is well formed; logs and problems name it."""

import re
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillhub.ids import new_id

HEADER = "X-Request-ID"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """Id of the request being answered; empty outside of one."""
    return _current.get()


def fields() -> dict[str, str]:
    """The same for a line of the log."""
    return {"request_id": current()} if current() else {}


class RequestId:
    """ASGI middleware; the outermost, so that nothing is answered without an id."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _asked_for(scope) or new_id("req")
        _current.set(request_id)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault(HEADER, request_id)
            await send(message)

        await self.app(scope, receive, marked)


def _asked_for(scope: Scope) -> str | None:
    """The id the caller sent; None where there is none, or one that could not stand in a log as it is."""
    sent = Headers(scope=scope).get(HEADER, "")
    return sent if _WELL_FORMED.fullmatch(sent) else None
