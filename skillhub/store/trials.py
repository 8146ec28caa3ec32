"""SQL of trials and their leases."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlmodel import Session, col, select, update

from skillhub.models import Trial
from skillhub.store import clock, keyset
from skillhub.store.keyset import Start

ORDERS = {"pair": ("pair", "arm")}

_WAITING = """
WITH open_gate AS (
  SELECT gate.id, count(*) FILTER (WHERE trial.state <> 'pending') AS taken
  FROM gate JOIN trial ON trial.gate_id = gate.id
  WHERE gate.workspace_id = :workspace_id AND gate.state = 'open' AND (:any_suite OR gate.suite_id = ANY(:suite_ids))
  GROUP BY gate.id
), waiting AS (
  SELECT trial.id,
    EXISTS (SELECT FROM trial mate WHERE mate.gate_id = trial.gate_id AND mate.pair = trial.pair
            AND mate.state IN ('leased', 'finished')) AS pair_is_begun,
    open_gate.taken + row_number() OVER (PARTITION BY trial.gate_id ORDER BY trial.pair, trial.arm) AS turn
  FROM trial JOIN open_gate ON open_gate.id = trial.gate_id
  WHERE trial.state = 'pending'
)
SELECT trial.id FROM trial JOIN waiting ON waiting.id = trial.id
WHERE trial.state = 'pending'
ORDER BY waiting.pair_is_begun DESC, waiting.turn, trial.gate_id, trial.pair, trial.arm
LIMIT :limit
FOR UPDATE OF trial SKIP LOCKED
"""
"""Pairs that are begun first; then the gate that was served least, so that many gates advance together."""


class Expired(NamedTuple):
    """A lease that ran out."""

    workspace_id: str
    trial_id: str


def insert(session: Session, new: Iterable[Trial]) -> None:
    session.add_all(list(new))
    session.flush()


def get(session: Session, trial_id: str) -> Trial | None:
    return session.get(Trial, trial_id)


def lock(session: Session, trial_id: str) -> Trial | None:
    query = select(Trial).where(Trial.id == trial_id).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def of_gate(session: Session, gate_id: str) -> Sequence[Trial]:
    """Trials of a gate by pair, the base's before the candidate's."""
    return session.exec(select(Trial).where(Trial.gate_id == gate_id).order_by(Trial.pair, Trial.arm)).all()


def page(session: Session, gate_id: str, *, start: Start, **filters: Any) -> Sequence[Trial]:
    """Trials of a gate with these values."""
    query = keyset.filtered(select(Trial).where(Trial.gate_id == gate_id), Trial, filters)
    return keyset.page(session, query, Trial, orders=ORDERS, start=start)


def lease(
    session: Session,
    *,
    workspace_id: str,
    suite_ids: Collection[str] | None,
    runner: str,
    limit: int,
    lease_seconds: float,
) -> list[Trial]:
    """Claim up to `limit` pending trials. Two callers at once never get the same one."""
    values = {"workspace_id": workspace_id, "any_suite": suite_ids is None, "suite_ids": list(suite_ids or ()), "limit": limit}
    ids = session.execute(text(_WAITING), values).scalars().all()
    found = {trial.id: trial for trial in session.exec(select(Trial).where(col(Trial.id).in_(ids)))}
    expires_at = clock.now(session) + timedelta(seconds=lease_seconds)
    for trial in found.values():
        trial.state, trial.attempt, trial.runner = "leased", trial.attempt + 1, runner
        trial.lease_token, trial.lease_expires_at, trial.error = secrets.token_urlsafe(16), expires_at, None
    session.flush()
    return [found[trial_id] for trial_id in ids]


def extend(session: Session, *, trial_id: str, lease_token: str, lease_seconds: float) -> bool:
    """Prolong a lease; False where it is no longer the caller's."""
    held = (Trial.id == trial_id, Trial.lease_token == lease_token, Trial.state == "leased")
    expires_at = clock.now(session) + timedelta(seconds=lease_seconds)
    return session.exec(update(Trial).where(*held).values(lease_expires_at=expires_at)).rowcount == 1


def expired(session: Session, *, workspace_id: str | None = None, limit: int = 500) -> list[Expired]:
    """Leases that ran out, of one workspace or of all."""
    query = select(Trial.workspace_id, Trial.id).where(
        Trial.state == "leased", col(Trial.lease_expires_at) < clock.now(session)
    )
    if workspace_id is not None:
        query = query.where(Trial.workspace_id == workspace_id)
    return [Expired(*row) for row in session.exec(query.order_by(Trial.id).limit(limit))]


def cancel_pending(session: Session, gate_id: str) -> int:
    """Take back the trials of a decided gate that nobody has begun; returns how many."""
    waiting = (Trial.gate_id == gate_id, Trial.state == "pending")
    return session.exec(update(Trial).where(*waiting).values(state="cancelled")).rowcount
