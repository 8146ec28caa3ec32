"""Is the process alive; can it serve."""

from fastapi import APIRouter, Request

from skillhub.errors import Unavailable
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


def _check_schema(url: str) -> None:
    """Asked until it holds, never again: during an upgrade the old processes serve on while the schema moves ahead of them."""
    found, wanted = schema.current(url), schema.head()
    if found != wanted:
        raise Unavailable(f"the schema is at {found or 'no revision'}, this code needs {wanted}: run `skillhub migrate`")
