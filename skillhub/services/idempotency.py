"""Doing a thing once however often it is asked for: the effect and its answer commit in one transaction."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from skillhub.errors import InFlight, Invalid
from skillhub.models import IdempotencyRecord
from skillhub.models.base import now
from skillhub.services.scope import Scope, Unit
from skillhub.store import idempotency
from skillhub.store.session import Database

KEPT = timedelta(hours=24)
"""How long an answer is given again; after that the key is as if it had never been used."""


@dataclass(frozen=True)
class _Joined(Scope):
    """A scope whose transactions are savepoints of one that is already open, so a whole use case commits with its answer."""

    unit: Unit | None = None

    @contextmanager
    def transaction(self) -> Iterator[Unit]:
        with self.unit.session.begin_nested():
            yield self.unit


def once(
    scope: Scope, *, key: str, request_sha256: str, status: int, use_case: Callable[[Scope], dict[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """`(answer, replayed)`: the answer of `use_case`, or the one it gave under this key before.

    An answer is kept for `KEPT`. An error leaves no trace, so the request may be tried again. Errors: InFlight while the first
    request is not done; Invalid where the key came with another request.
    """
    with scope.transaction() as unit:
        place = {"workspace_id": unit.workspace_id, "key": key}
        if not idempotency.try_lock(unit.session, **place):
            raise InFlight
        record = idempotency.get(unit.session, **place, since=now() - KEPT)
        if record is not None:
            return _answer(record, request_sha256), True
        joined = _Joined(**{f.name: getattr(scope, f.name) for f in fields(Scope)}, unit=unit)
        body = use_case(joined)
        given = {"request_sha256": request_sha256, "status": status, "body": body, "created_at": now()}
        idempotency.keep(unit.session, **place, **given)
        return body, False


def purge(database: Database) -> int:
    """Forget the answers that no longer count; returns how many."""
    with database.system_transaction() as session:
        return idempotency.purge(session, before=now() - KEPT)


def _answer(record: IdempotencyRecord, request_sha256: str) -> dict[str, Any]:
    if record.request_sha256 != request_sha256:
        raise Invalid("this Idempotency-Key was used for another request", path="/headers/Idempotency-Key")
    return record.body
