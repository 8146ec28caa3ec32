"""SQL of API keys."""

from collections.abc import Sequence
from datetime import timedelta

from sqlmodel import Session, col, func, or_, select, update

from skillhub.models import ApiKey, Workspace
from skillhub.store import clock

USE_PAUSE = timedelta(minutes=1)
_ACTIVE = (col(ApiKey.revoked_at).is_(None), or_(col(ApiKey.expires_at).is_(None), col(ApiKey.expires_at) > func.now()))


def get(session: Session, key_id: str) -> ApiKey | None:
    return session.get(ApiKey, key_id)


def by_hash(session: Session, key_hmac: str) -> ApiKey | None:
    """The key of that keyed hash, unless it was revoked or has expired."""
    return session.exec(select(ApiKey).where(ApiKey.key_hmac == key_hmac, *_ACTIVE)).one_or_none()


def active(session: Session, *, workspace_id: str, key_id: str) -> ApiKey | None:
    """A key by its id, unless it was revoked or has expired."""
    query = select(ApiKey).where(ApiKey.id == key_id, ApiKey.workspace_id == workspace_id, *_ACTIVE)
    return session.exec(query).one_or_none()


def page(session: Session, *, workspace_id: str, before: str | None, limit: int) -> Sequence[ApiKey]:
    """All keys, newest first, from the one after `before`; the revoked and expired too."""
    query = select(ApiKey).where(ApiKey.workspace_id == workspace_id)
    if before is not None:
        query = query.where(ApiKey.id < before)
    return session.exec(query.order_by(col(ApiKey.id).desc()).limit(limit)).all()


def named(session: Session, *, workspace_id: str, name: str) -> Sequence[ApiKey]:
    """Keys of that name that are not revoked."""
    query = select(ApiKey).where(ApiKey.workspace_id == workspace_id, ApiKey.name == name, col(ApiKey.revoked_at).is_(None))
    return session.exec(query).all()


def is_last_admin(session: Session, key: ApiKey) -> bool:
    """Whether no other admin key of its workspace holds for good. Locks the workspace: two at once see each other."""
    session.exec(select(Workspace).where(Workspace.id == key.workspace_id).with_for_update(key_share=True)).one()
    others = select(ApiKey.id).where(
        ApiKey.workspace_id == key.workspace_id, ApiKey.id != key.id, ApiKey.role == "admin", *_ACTIVE
    )
    return key.role == "admin" and session.exec(others.where(col(ApiKey.expires_at).is_(None)).limit(1)).first() is None


def touch(session: Session, key_id: str) -> None:
    """Note that the key is in use, at most once a minute."""
    at = clock.now(session)
    stale = or_(col(ApiKey.last_used_at).is_(None), col(ApiKey.last_used_at) < at - USE_PAUSE)
    session.exec(update(ApiKey).where(col(ApiKey.id) == key_id, stale).values(last_used_at=at))
