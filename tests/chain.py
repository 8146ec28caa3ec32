"""Whether the event log of a workspace is whole."""

from sqlmodel import Session

from skillhub.store import events


def first_broken(session: Session, workspace_id: str) -> int | None:
    """`seq` of the first event that does not follow from the one before it; None where the chain holds."""
    broken = events.verify(session, workspace_id)[2]
    return broken.seq if broken else None
