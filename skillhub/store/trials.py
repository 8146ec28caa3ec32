"""SQL of trials and their leases."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, select, update

from skillhub.models import Trial
from skillhub.store import keyset, leases
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


def insert(session: Session, new: Iterable[Trial]) -> None:
    session.add_all(list(new))
    session.flush()


def get(session: Session, trial_id: str) -> Trial | None:
    return session.get(Trial, trial_id)


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
    return leases.claim(session, Trial, ids, runner=runner, lease_seconds=lease_seconds)


def cancel_pending(session: Session, gate_id: str) -> int:
    """Take back the trials of a decided gate that nobody has begun; returns how many."""
    waiting = (Trial.gate_id == gate_id, Trial.state == "pending")
    return session.exec(update(Trial).where(*waiting).values(state="cancelled")).rowcount
