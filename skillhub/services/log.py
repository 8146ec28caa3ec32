"""Reading the event log."""

from collections.abc import Sequence

from skillhub.models import Event
from skillhub.services.scope import Scope
from skillhub.store import events


def after(scope: Scope, *, seq: int, limit: int) -> Sequence[Event]:
    """Up to `limit` events with a higher `seq`, oldest first."""
    with scope.transaction() as unit:
        return events.after(unit.session, scope.workspace_id, seq=seq, limit=limit)
