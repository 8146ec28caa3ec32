"""Reading the event log."""

from collections.abc import Sequence
from typing import Any

from skillhub.models import Event
from skillhub.services.scope import Scope
from skillhub.store import events, search
from skillhub.store.keyset import Start
from skillhub.store.session import Database

OLDEST = Start("seq")


def page(scope: Scope, start: Start = OLDEST, *, after: int = 0, **filters: Any) -> Sequence[Event]:
    """Events above `after`, by `kind`, `subject_id`, `actor`."""
    with scope.transaction() as unit:
        return events.page(unit.session, scope.workspace_id, start=start, after=after, **filters)


def head_seq(scope: Scope) -> int:
    """`seq` of the newest event; 0 where there is none."""
    with scope.transaction() as unit:
        return events.head_seq(unit.session, scope.workspace_id)


def heads(database: Database) -> dict[str, int]:
    """`{workspace_id: seq of its newest event}` of all workspaces."""
    with database.system_transaction() as session:
        return search.heads(session)


def after(scope: Scope, *, seq: int, limit: int) -> Sequence[Event]:
    """Up to `limit` events with a higher `seq`, oldest first."""
    with scope.transaction() as unit:
        return events.after(unit.session, scope.workspace_id, seq=seq, limit=limit)
