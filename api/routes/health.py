"""Is the process alive; can it serve."""

import hmac

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from skillhub.errors import NotFound, Unauthorized, Unavailable
from skillhub.store import schema

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(request: Request) -> dict[str, str]:
    """The database answers and has the schema that this code needs; 503 where not."""
    state = request.app.state
    state.database.ping()
    if not state.migrated:
        _check_schema(state.database.url)
        state.migrated = True
    return {"status": "ready"}


@router.get("/metrics", include_in_schema=False)
def metrics(request: Request) -> Response:
    """Numbers for Prometheus, for the operator: they count over all workspaces, so no key of a workspace opens them."""
    token = request.app.state.settings.metrics_token
    if not token:
        raise NotFound("set SKILLHUB_METRICS_TOKEN to open this page")
    if not hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()):
        raise Unauthorized("send SKILLHUB_METRICS_TOKEN as `Authorization: Bearer`")
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _check_schema(url: str) -> None:
    """Asked until it holds, never again: during an upgrade the old processes serve on while the schema moves ahead of them."""
    found, wanted = schema.current(url), schema.head()
    if found != wanted:
        raise Unavailable(f"the schema is at {found or 'no revision'}, this code needs {wanted}: run `skillhub migrate`")
