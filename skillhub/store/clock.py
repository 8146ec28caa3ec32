"""The one clock of leases: the database's. Machines that claim work may disagree about the time; it does not."""

from datetime import datetime

from sqlmodel import Session, func, select


def now(session: Session) -> datetime:
    """The time at this call, UTC; not the start of the transaction, which may have waited for a lock."""
    return session.exec(select(func.clock_timestamp())).one()
