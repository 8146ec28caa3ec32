"""SQL of answers already given."""

from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, delete

from skillhub.models import IdempotencyRecord

_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended('once:' || :workspace_id || ':' || :key, 0))")


def try_lock(session: Session, *, workspace_id: str, key: str) -> bool:
    """Become the only one at work under this key until the transaction ends; False, at once, where someone is."""
    return session.execute(_TRY_LOCK, {"workspace_id": workspace_id, "key": key}).scalar_one()


def get(session: Session, *, workspace_id: str, key: str, since: datetime) -> IdempotencyRecord | None:
    """The answer given under the key, unless that was before `since`."""
    record = session.get(IdempotencyRecord, (workspace_id, key))
    return record if record is not None and record.created_at >= since else None


def keep(session: Session, *, workspace_id: str, key: str, **answer: Any) -> None:
    """Keep `request_sha256`, `status`, `body` and `created_at` with the key, in place of an answer that is too old."""
    statement = insert(IdempotencyRecord).values(workspace_id=workspace_id, key=key, **answer)
    session.execute(statement.on_conflict_do_update(index_elements=["workspace_id", "key"], set_=answer))


def purge(session: Session, *, before: datetime) -> int:
    """Forget what is older, of all workspaces; returns how many."""
    return session.exec(delete(IdempotencyRecord).where(col(IdempotencyRecord.created_at) < before)).rowcount
