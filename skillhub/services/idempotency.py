"""Doing a thing once however often it is asked for: the effect and its answer commit in one transaction."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from skillhub.errors import Invalid
from skillhub.services.scope import Scope, Unit
from skillhub.store import idempotency


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

    An error leaves no trace, so the request may be tried again. Errors: Invalid where the key came with another request.
    """
    with scope.transaction() as unit:
        if not idempotency.claim(unit.session, workspace_id=unit.workspace_id, key=key, request_sha256=request_sha256):
            record = idempotency.get(unit.session, workspace_id=unit.workspace_id, key=key)
            if record.request_sha256 != request_sha256:
                raise Invalid("this Idempotency-Key was used for another request", path="/headers/Idempotency-Key")
            return record.body, True
        joined = _Joined(**{f.name: getattr(scope, f.name) for f in fields(Scope)}, unit=unit)
        body = use_case(joined)
        idempotency.answer(unit.session, workspace_id=unit.workspace_id, key=key, status=status, body=body)
        return body, False
