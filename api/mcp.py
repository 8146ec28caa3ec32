"""MCP over streamable HTTP at `/mcp`: the tools of `api.tools`, each call with the key of its request."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import FastAPI
from skillhub_client import AsyncClient, Retries
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.problems import answer
from skillhub.errors import SkillhubError, Unauthorized
from skillhub.services import keys
from skillhub.services.limits import READS

PATH = "/mcp"
_SCHEME = "Bearer "


class Endpoint:
    """ASGI: lets requests with a key that holds through to the session manager, while it runs."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._handle: Callable[[Scope, Receive, Send], Awaitable[Any]] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await run_in_threadpool(self._admit, Headers(scope=scope).get("Authorization"))
        except SkillhubError as error:
            await answer(error)(scope, receive, send)
            return
        await self._handle(scope, receive, send)

    def _admit(self, authorization: str | None) -> None:
        """Each message counts as a read of its key, besides what the tool it calls does. Errors: Unauthorized, RateLimited."""
        state = self._app.state
        key = keys.authenticate(state.database, key=_key(authorization), secret=state.settings.secret)
        state.limiter.count(key, READS)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The library is imported here, so that importing the API does not pay for it."""
        from mcp.server.transport_security import TransportSecuritySettings

        from api import tools

        server = tools.server(self._hub)
        # A page in a browser cannot send the key, so there is nothing that rebinding a host name could reach.
        open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, json_response=True, transport_security=open_to_all)
        async with server.session_manager.run():
            self._handle = server.session_manager.handle_request
            yield

    @asynccontextmanager
    async def _hub(self, context: Any) -> AsyncIterator[AsyncClient]:
        """A client of this very application, in process, with the caller's key."""
        key = _key({name.lower(): value for name, value in (context.headers or {}).items()}.get("authorization"))
        inside = httpx.ASGITransport(app=self._app)
        async with AsyncClient("http://hub", key, transport=inside, retries=Retries(attempts=1)) as client:
            yield client


def install(app: FastAPI) -> Endpoint:
    """Serve `/mcp` while the application runs."""
    endpoint = Endpoint(app)
    app.router.routes.append(Route(PATH, endpoint=endpoint, methods=["GET", "POST", "DELETE"], include_in_schema=False))
    return endpoint


def _key(header: str | None) -> str:
    if header is None or not header.startswith(_SCHEME):
        raise Unauthorized("send your API key as `Authorization: Bearer shk_...`")
    return header.removeprefix(_SCHEME)
