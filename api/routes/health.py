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
    found, wanted = schema.current(request.app.state.database.url), schema.head()
    if found != wanted:
        raise Unavailable(f"the schema is at {found or 'no revision'}, this code needs {wanted}: run `skillhub migrate`")
    return {"status": "ready"}
