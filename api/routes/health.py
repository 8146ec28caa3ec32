"""Is the process alive; can it serve."""

from fastapi import APIRouter, Request
from sqlalchemy import text

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(request: Request) -> dict[str, str]:
    """The database answers too; 503 where it does not."""
    with request.app.state.database.system_transaction() as session:
        session.execute(text("SELECT 1"))
    return {"status": "ready"}
