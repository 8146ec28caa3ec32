"""Making and checking API keys. The key is shown once; only its keyed hash is stored."""

import secrets

from sqlmodel import col, select

from skillhub.errors import Unauthorized
from skillhub.hashing import keyed_hash
from skillhub.ids import new_id
from skillhub.models import ApiKey, Workspace
from skillhub.models.base import now
from skillhub.services.scope import Scope
from skillhub.store.session import Database

KEY_PREFIX = "shk_"


def ensure_workspace(database: Database, name: str) -> str:
    """Id of the workspace of that name; made where it is not there."""
    with database.system_transaction() as session:
        workspace = session.exec(select(Workspace).where(Workspace.name == name)).one_or_none()
        if workspace is None:
            workspace = Workspace(id=new_id("wsp"), name=name)
            session.add(workspace)
        return workspace.id


def create_key(scope: Scope, *, name: str, secret: str) -> str:
    """A new admin key of the scope's workspace. Returned once, in the clear."""
    key = KEY_PREFIX + secrets.token_urlsafe(32)
    row = ApiKey(
        id=new_id("key"), workspace_id=scope.workspace_id, name=name, prefix=key[:10], key_hmac=keyed_hash(secret, key)
    )
    with scope.transaction() as unit:
        unit.session.add(row)
        unit.record("key.created", row.id, name=name, prefix=row.prefix)
    return key


def authenticate(database: Database, *, key: str, secret: str) -> ApiKey:
    """The row of a key that is not revoked, else Unauthorized."""
    with database.system_transaction() as session:
        query = select(ApiKey).where(ApiKey.key_hmac == keyed_hash(secret, key), col(ApiKey.revoked_at).is_(None))
        row = session.exec(query).one_or_none()
    if row is None:
        raise Unauthorized("this API key is not known or was revoked")
    return row


def has_keys(scope: Scope, *, besides: str) -> bool:
    """Whether the scope's workspace was ever given a key of another name than `besides`."""
    query = select(ApiKey.id).where(ApiKey.workspace_id == scope.workspace_id, ApiKey.name != besides)
    with scope.transaction() as unit:
        return unit.session.exec(query.limit(1)).first() is not None


def revoke_keys(scope: Scope, *, name: str) -> int:
    """Revoke all keys of that name, at once; returns how many."""
    query = select(ApiKey).where(
        ApiKey.workspace_id == scope.workspace_id, ApiKey.name == name, col(ApiKey.revoked_at).is_(None)
    )
    with scope.transaction() as unit:
        rows = unit.session.exec(query).all()
        for row in rows:
            row.revoked_at = now()
            unit.session.add(row)
            unit.record("key.revoked", row.id, name=name, prefix=row.prefix)
    return len(rows)
