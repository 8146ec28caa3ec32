"""SQL that counts over all workspaces; for a system transaction."""

from sqlmodel import Session, col, func, select

from skillhub.models import Decision, Job
from skillhub.store import clock
from skillhub.store.jobs import WAITING


def jobs(session: Session) -> dict[tuple[str, ...], int]:
    """`{(kind, state): jobs}`."""
    query = select(Job.kind, Job.state, func.count()).group_by(Job.kind, Job.state)
    return {(kind, state): count for kind, state, count in session.exec(query)}


def decisions(session: Session) -> dict[tuple[str, ...], int]:
    """`{(verdict,): decisions}`."""
    query = select(Decision.verdict, func.count()).group_by(Decision.verdict)
    return {(verdict,): count for verdict, count in session.exec(query)}


def oldest_waiting_seconds(session: Session) -> float:
    """Age of the oldest job that waits for a worker; 0 where none does."""
    oldest = session.exec(select(func.min(Job.created_at)).where(col(Job.state).in_(WAITING))).one()
    return (clock.now(session) - oldest).total_seconds() if oldest else 0.0
