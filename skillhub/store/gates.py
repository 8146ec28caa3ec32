"""SQL of gates and decisions."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlmodel import Session, col, func, select

from skillhub.models import Decision, Gate
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME


class Stream(NamedTuple):
    """What the candidates of a suite have used of its error budget."""

    gates: int
    accepted: int


def insert(session: Session, gate: Gate) -> None:
    session.add(gate)
    session.flush()


def get(session: Session, gate_id: str) -> Gate | None:
    return session.get(Gate, gate_id)


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Gate]:
    """Gates with these values."""
    query = keyset.filtered(select(Gate).where(Gate.workspace_id == workspace_id), Gate, filters)
    return keyset.page(session, query, Gate, orders=ORDERS, start=start)


def decision_page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Decision]:
    """Decisions with these values."""
    query = keyset.filtered(select(Decision).where(Decision.workspace_id == workspace_id), Decision, filters)
    return keyset.page(session, query, Decision, orders=ORDERS, start=start)


def lock(session: Session, gate_id: str) -> Gate | None:
    """The gate with its row locked: one finished trial at a time moves it."""
    query = select(Gate).where(Gate.id == gate_id).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def stream(session: Session, suite_id: str) -> Stream:
    gates = session.exec(select(func.count()).select_from(Gate).where(Gate.suite_id == suite_id)).one()
    accepted = (
        select(func.count())
        .select_from(Decision)
        .join(Gate, col(Gate.id) == col(Decision.gate_id))
        .where(Gate.suite_id == suite_id, Decision.verdict == "accepted")
    )
    return Stream(gates, session.exec(accepted).one())


def insert_decision(session: Session, decision: Decision) -> None:
    session.add(decision)
    session.flush()


def decision(session: Session, gate_id: str) -> Decision | None:
    return session.exec(select(Decision).where(Decision.gate_id == gate_id)).one_or_none()


def decisions(session: Session, candidate_ids: Collection[str]) -> dict[str, Decision]:
    """Candidate id -> its decision."""
    query = select(Decision).where(col(Decision.candidate_id).in_(candidate_ids))
    return {row.candidate_id: row for row in session.exec(query)}


def ids_by_candidate(session: Session, candidate_ids: Collection[str]) -> dict[str, str]:
    """Candidate id -> id of its gate."""
    query = select(Gate.candidate_id, Gate.id).where(col(Gate.candidate_id).in_(candidate_ids))
    return dict(session.exec(query).all())
