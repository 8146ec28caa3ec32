"""The event log as evidence: is the chain whole, what is its head, and does it still hold a head that was exported earlier?"""

import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from skillhub.errors import Invalid
from skillhub.hashing import canonical_json, keyed_hash
from skillhub.models.base import now
from skillhub.services.scope import Scope
from skillhub.store import events
from skillhub.store.events import Broken


@dataclass(frozen=True)
class Head:
    """The newest event of a workspace at a time. Whoever holds it can prove later that nothing before it was changed."""

    workspace_id: str
    seq: int
    """0 for an empty log."""
    sha256: str
    at: datetime
    signature: str
    """HMAC-SHA256 under the hub's secret over the other fields; empty where the hub has none."""

    @property
    def facts(self) -> dict[str, Any]:
        return {"workspace_id": self.workspace_id, "seq": self.seq, "sha256": self.sha256, "at": self.at.isoformat()}


@dataclass(frozen=True)
class Verdict:
    """What a verification found."""

    checked: int
    """Events that were looked at."""
    seq: int
    """The last of them; where the next part begins."""
    broken: Broken | None


def head(scope: Scope, *, secret: str) -> Head:
    with scope.transaction() as unit:
        last = events.head(unit.session, unit.workspace_id)
    seq, sha256 = (last.seq, last.sha256) if last else (0, events.GENESIS)
    unsigned = Head(scope.workspace_id, seq, sha256, now(), "")
    return Head(scope.workspace_id, seq, sha256, unsigned.at, _signature(unsigned, secret))


def verify(scope: Scope, *, after: int = 0, limit: int | None = None) -> Verdict:
    """Follow the chain from the event `after` (trusted) over `limit` events, or to its end."""
    with scope.transaction() as unit:
        return Verdict(*events.verify(unit.session, unit.workspace_id, after=after, limit=limit))


def check(scope: Scope, exported: Head, *, secret: str) -> Broken | None:
    """What is wrong with the log up to an exported head; None where every event up to it is as it was then.

    Errors: Invalid for a head of another workspace, or one that this hub did not sign.
    """
    if exported.workspace_id != scope.workspace_id:
        raise Invalid(f"this is a head of the workspace {exported.workspace_id}, not of {scope.workspace_id}")
    if exported.signature and not hmac.compare_digest(exported.signature, _signature(exported, secret)):
        raise Invalid("the signature of the head is not that of this hub")
    with scope.transaction() as unit:
        _, seq, broken = events.verify(unit.session, unit.workspace_id, limit=exported.seq)
        kept = events.get(unit.session, unit.workspace_id, exported.seq)
    if broken is None and exported.seq and (kept is None or seq < exported.seq):
        return Broken(seq + 1, "is missing: the log ends before the exported head")
    if broken is None and kept is not None and kept.sha256 != exported.sha256:
        return Broken(exported.seq, "differs from the exported head: the log was written anew")
    return broken


def _signature(head: Head, secret: str) -> str:
    return keyed_hash(secret, f"head:{canonical_json(head.facts)}") if secret else ""
