"""SQL of answers already given."""

from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, update

from skillhub.models import IdempotencyRecord
from skillhub.models.base import now


def claim(session: Session, *, workspace_id: str, key: str, request_sha256: str) -> bool:
    """Take the key for this transaction; False where it is taken. Waits for a transaction that holds it and is not done."""
    values = {"workspace_id": workspace_id, "key": key, "request_sha256": request_sha256, "status": 0, "body": {}}
    statement = insert(IdempotencyRecord).values(**values, created_at=now()).on_conflict_do_nothing()
    return session.execute(statement.returning(col(IdempotencyRecord.key))).one_or_none() is not None


def get(session: Session, *, workspace_id: str, key: str) -> IdempotencyRecord:
    return session.get_one(IdempotencyRecord, (workspace_id, key))


def answer(session: Session, *, workspace_id: str, key: str, status: int, body: dict[str, Any]) -> None:
    """Keep the answer with the key."""
    statement = update(IdempotencyRecord).where(
        col(IdempotencyRecord.workspace_id) == workspace_id, col(IdempotencyRecord.key) == key
    )
    session.exec(statement.values(status=status, body=body))
