"""What every request leaves behind: one line in the log, and its count and duration for Prometheus. Never what was in it."""

import logging
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.metrics import Metrics

log = logging.getLogger("skillhub.access")
QUIET = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds by machines; counted, not logged."""


class Observed:
    """ASGI middleware around everything that can answer."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path_format", "none")
        self.metrics.request(route, scope["method"], status, seconds)
        if route not in QUIET:
            facts = {"route": route, "method": scope["method"], "status": status, "seconds": round(seconds, 4)}
            level = logging.ERROR if status == 500 else logging.INFO
            log.log(level, "%s %s %d", scope["method"], route, status, extra={"facts": facts | _caller(scope)})


def _caller(scope: Scope) -> dict[str, Any]:
    """Who called, where a key was recognised."""
    caller = scope.get("state", {}).get("caller")
    return {"workspace_id": caller.workspace_id, "actor": caller.id} if caller else {}
