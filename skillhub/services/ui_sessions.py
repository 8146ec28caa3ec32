"""Signed sessions of the web view: a key's holder gets a link that holds for a day, and the link becomes a cookie.

Nothing is stored. A token is `payload.signature`: base64url JSON `{use, workspace_id, key_id, expires_at}`, signed with
HMAC-SHA256 under the server's secret. Revoking the key ends its sessions at once.
"""

import base64
import binascii
import hmac
import json
from datetime import datetime, timedelta

from skillhub.errors import Unauthorized, Unavailable
from skillhub.hashing import keyed_hash
from skillhub.models import ApiKey
from skillhub.models.base import now
from skillhub.services.scope import Scope
from skillhub.store import keys
from skillhub.store.session import Database

LINK_SECONDS = 24 * 3600
SESSION_SECONDS = 8 * 3600


def open_link(scope: Scope, *, secret: str) -> tuple[str, datetime]:
    """Token of a link for the scope's key, and when it expires."""
    return _signed("link", workspace_id=scope.workspace_id, key_id=scope.actor, seconds=LINK_SECONDS, secret=secret)


def open_session(database: Database, *, link: str, secret: str) -> tuple[str, datetime]:
    """Token of a session in exchange for that of a link that has not expired, else Unauthorized."""
    key = _holder(database, token=link, use="link", secret=secret)
    return _signed("session", workspace_id=key.workspace_id, key_id=key.id, seconds=SESSION_SECONDS, secret=secret)


def resume(database: Database, *, session: str, secret: str) -> Scope:
    """The scope of a session, else Unauthorized."""
    key = _holder(database, token=session, use="session", secret=secret)
    return Scope(database=database, workspace_id=key.workspace_id, actor=key.id, role=key.role)


def _signed(use: str, *, workspace_id: str, key_id: str, seconds: int, secret: str) -> tuple[str, datetime]:
    if not secret:
        raise Unavailable("the server has no secret to sign a link with")
    expires_at = now() + timedelta(seconds=seconds)
    facts = {"use": use, "workspace_id": workspace_id, "key_id": key_id, "expires_at": expires_at.timestamp()}
    payload = base64.urlsafe_b64encode(json.dumps(facts).encode()).decode().rstrip("=")
    return f"{payload}.{_signature(payload, secret)}", expires_at


def _holder(database: Database, *, token: str, use: str, secret: str) -> ApiKey:
    """The key a token was signed for, if it still holds."""
    facts = _verified(token, secret)
    if facts["use"] != use or facts["expires_at"] < now().timestamp():
        raise Unauthorized("this link or session has expired; ask for a new link")
    with database.system_transaction() as session:
        key = keys.active(session, workspace_id=facts["workspace_id"], key_id=facts["key_id"])
    if key is None:
        raise Unauthorized("the API key behind this session was revoked or has expired")
    return key


def _verified(token: str, secret: str) -> dict:
    payload, _, signature = token.partition(".")
    if not secret or not hmac.compare_digest(signature.encode(), _signature(payload, secret).encode()):
        raise Unauthorized("this link or session was not signed here")
    try:
        return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (binascii.Error, ValueError) as error:
        raise Unauthorized("this link or session cannot be read") from error


def _signature(payload: str, secret: str) -> str:
    return keyed_hash(secret, f"ui:{payload}")
