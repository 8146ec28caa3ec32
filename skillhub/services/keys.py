"""Workspaces and the API keys that open them. A key is shown once; only its keyed hash is stored.

A key is `shk_`, 43 random characters and a checksum of 8, so that a typing error, or a foreign text that looks like a key, is
refused without asking the database, and a scanner can tell a leaked key from noise.
"""

import secrets
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlmodel import col, select

from skillhub.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized
from skillhub.hashing import keyed_hash
from skillhub.ids import new_id
from skillhub.models import ApiKey, Workspace
from skillhub.models.base import now
from skillhub.services.scope import Scope, Unit
from skillhub.store import keys
from skillhub.store.session import Database

KEY_PREFIX = "shk_"
ROLES = ("read", "record", "propose", "publish", "admin")
"""Each may do what those before it may."""
_RANDOM, _CHECKSUM = 43, 8


def allows(role: str, needed: str) -> bool:
    return ROLES.index(role) >= ROLES.index(needed)


def ensure_workspace(database: Database, name: str) -> str:
    """Id of the workspace of that name; made where it is not there."""
    with database.system_transaction() as session:
        workspace = session.exec(select(Workspace).where(Workspace.name == name)).one_or_none()
        if workspace is None:
            workspace = Workspace(id=new_id("wsp"), name=name)
            session.add(workspace)
        return workspace.id


def workspaces(database: Database) -> list[Workspace]:
    """All workspaces by name; for the operator of the hub."""
    with database.system_transaction() as session:
        return list(session.exec(select(Workspace).order_by(col(Workspace.name))))


def create_key(scope: Scope, *, name: str, secret: str, role: str = "admin") -> str:
    """A new key of the scope's workspace that does not expire. Returned once, in the clear."""
    return create(scope, name=name, secret=secret, role=role)[1]


def create(
    scope: Scope,
    *,
    name: str,
    secret: str,
    role: str = "admin",
    expires_at: datetime | None = None,
    limits: dict[str, int] | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its row. Errors: Forbidden for a role above the scope's own, Invalid for an expiry in the past."""
    _check_grant(scope, role, expires_at)
    with scope.transaction() as unit:
        return _insert_in(unit, name=name, secret=secret, role=role, expires_at=expires_at, limits=limits or {})


def rotate(scope: Scope, key_id: str, *, secret: str, grace_seconds: int) -> tuple[ApiKey, str]:
    """A successor of the same name, role and limits; the old key holds for `grace_seconds` more."""
    with scope.transaction() as unit:
        old = _get_in(unit, key_id)
        _check_grant(scope, old.role, None)
        facts = {"name": old.name, "role": old.role, "expires_at": old.expires_at, "limits": old.limits}
        row, key = _insert_in(unit, secret=secret, **facts)
        ends = now() + timedelta(seconds=grace_seconds)
        old.expires_at = min(old.expires_at or ends, ends)
        unit.session.add(old)
        unit.record("key.rotated", old.id, name=old.name, successor_id=row.id)
        return row, key


def revoke(scope: Scope, key_id: str) -> ApiKey:
    """End a key at once, everywhere. Errors: NotFound; Conflict for the last admin key that does not expire."""
    with scope.transaction() as unit:
        row = _get_in(unit, key_id)
        if keys.is_last_admin(unit.session, row):
            raise Conflict("this is the last admin key that does not expire: make another one first")
        _revoke_in(unit, row)
        return row


def revoke_keys(scope: Scope, *, name: str) -> int:
    """Revoke all keys of that name, at once; returns how many."""
    with scope.transaction() as unit:
        rows = keys.named(unit.session, workspace_id=scope.workspace_id, name=name)
        for row in rows:
            _revoke_in(unit, row)
    return len(rows)


def page(scope: Scope, *, before: str | None, limit: int) -> Sequence[ApiKey]:
    """Keys, newest first; `before` is a key's id."""
    with scope.transaction() as unit:
        return keys.page(unit.session, workspace_id=unit.workspace_id, before=before, limit=limit)


def authenticate(database: Database, *, key: str, secret: str) -> ApiKey:
    """The row of a key that holds now, else Unauthorized."""
    row = None
    if _well_formed(key):
        with database.system_transaction() as session:
            row = keys.by_hash(session, keyed_hash(secret, key))
            if row is not None and (row.last_used_at is None or now() - row.last_used_at > keys.USE_PAUSE):
                keys.touch(session, row.id)
    if row is None:
        raise Unauthorized("this API key is not known, has expired or was revoked")
    return row


def has_keys(scope: Scope, *, besides: str) -> bool:
    """Whether the scope's workspace was ever given a key of another name than `besides`."""
    query = select(ApiKey.id).where(ApiKey.workspace_id == scope.workspace_id, ApiKey.name != besides)
    with scope.transaction() as unit:
        return unit.session.exec(query.limit(1)).first() is not None


def _check_grant(scope: Scope, role: str, expires_at: datetime | None) -> None:
    if role not in ROLES:
        raise Invalid(f"{role!r} is not a role; known are {', '.join(ROLES)}", path="/role")
    if not allows(scope.role, role):
        raise Forbidden(f"a key of the role {scope.role} cannot make one of the role {role}")
    if expires_at is not None and expires_at <= now():
        raise Invalid("the expiry is in the past", path="/expires_at")


def _insert_in(
    unit: Unit, *, name: str, secret: str, role: str, expires_at: datetime | None, limits: dict[str, int]
) -> tuple[ApiKey, str]:
    key = _new_key()
    row = ApiKey(
        id=new_id("key"),
        workspace_id=unit.workspace_id,
        name=name,
        prefix=key[:10],
        key_hmac=keyed_hash(secret, key),
        role=role,
        limits=limits,
        created_by=unit.scope.actor,
        expires_at=expires_at,
    )
    unit.session.add(row)
    unit.session.flush()
    unit.record("key.created", row.id, name=name, prefix=row.prefix, role=role)
    return row, key


def _get_in(unit: Unit, key_id: str) -> ApiKey:
    row = keys.get(unit.session, key_id)
    if row is None or row.revoked_at is not None:
        raise NotFound(f"there is no key {key_id!r} in use")
    return row


def _revoke_in(unit: Unit, row: ApiKey) -> None:
    row.revoked_at = now()
    unit.session.add(row)
    unit.session.flush()
    unit.record("key.revoked", row.id, name=row.name, prefix=row.prefix)


def _new_key() -> str:
    body = KEY_PREFIX + secrets.token_urlsafe(32)
    return body + _checksum(body)


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def _well_formed(key: str) -> bool:
    """Whether a text can be a key of ours; the oldest keys have no checksum."""
    body, checksum = key[: len(KEY_PREFIX) + _RANDOM], key[len(KEY_PREFIX) + _RANDOM :]
    whole = key.startswith(KEY_PREFIX) and key.isascii() and len(body) == len(KEY_PREFIX) + _RANDOM
    return whole and checksum in ("", _checksum(body))
