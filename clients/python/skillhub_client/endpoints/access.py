"""Calls about who may do what, and about the log that proves what was done."""

from collections.abc import Mapping
from datetime import datetime

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, as_nothing, given, part
from skillhub_client.transport import Call


def get_workspace() -> Call[m.Workspace]:
    """The workspace that this key opens, and how much is in it."""
    return Call("GET", "/v1/workspace", as_(m.Workspace))


def list_keys(*, cursor: str | None = None, limit: int | None = None) -> Call[m.Page[m.ApiKey]]:
    """One page of keys, newest first."""
    return Call("GET", "/v1/keys", as_(m.Page[m.ApiKey]), params={"cursor": cursor, "limit": limit})


def create_key(
    name: str, role: str, *, expires_at: datetime | None = None, limits: Mapping[str, int] | None = None
) -> Call[m.NewApiKey]:
    """A new key, in the clear only in this answer. `role` is read, record, propose, publish or admin."""
    body = {"name": name, "role": role, "expires_at": expires_at.isoformat() if expires_at else None, "limits": limits}
    return Call("POST", "/v1/keys", as_(m.NewApiKey), json=given(body))


def rotate_key(id: str, *, grace_seconds: int = 24 * 3600) -> Call[m.NewApiKey]:
    """A successor with the same rights; the old key holds for `grace_seconds` more."""
    return Call("POST", f"/v1/keys/{part(id)}/rotate", as_(m.NewApiKey), json={"grace_seconds": grace_seconds})


def revoke_key(id: str) -> Call[None]:
    """End a key at once. Conflict for the last admin key that does not expire."""
    return Call("DELETE", f"/v1/keys/{part(id)}", as_nothing)


def audit_head() -> Call[m.AuditHead]:
    """The newest event of the log, signed, to be kept elsewhere."""
    return Call("GET", "/v1/audit/head", as_(m.AuditHead))


def audit_verify(*, after: int = 0, limit: int = 10_000) -> Call[m.AuditVerdict]:
    """Follow the hash chain over `limit` events from the one after `after`."""
    return Call("GET", "/v1/audit/verify", as_(m.AuditVerdict), params={"after": after, "limit": limit})
