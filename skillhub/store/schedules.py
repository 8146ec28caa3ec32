"""SQL of schedules. A row's lock and its `next_run_at` are what makes one job of one due time."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlmodel import Session, col, select

from skillhub.models import Schedule


class DueSchedule(NamedTuple):
    """A schedule whose time has come."""

    workspace_id: str
    schedule_id: str


def named(session: Session, *, workspace_id: str, name: str) -> Schedule | None:
    query = select(Schedule).where(Schedule.workspace_id == workspace_id, Schedule.name == name)
    return session.exec(query).one_or_none()


def page(session: Session, *, workspace_id: str, after: str | None, limit: int) -> Sequence[Schedule]:
    """Schedules by name, from the one after `after`."""
    query = select(Schedule).where(Schedule.workspace_id == workspace_id)
    if after is not None:
        query = query.where(Schedule.name > after)
    return session.exec(query.order_by(col(Schedule.name)).limit(limit)).all()


def due(session: Session, at: datetime) -> list[DueSchedule]:
    """What is due, of all workspaces."""
    query = select(Schedule.workspace_id, Schedule.id).where(Schedule.enabled, Schedule.next_run_at <= at)
    return [DueSchedule(*row) for row in session.exec(query.order_by(Schedule.next_run_at, Schedule.id))]


def lock_due(session: Session, schedule_id: str, at: datetime) -> Schedule | None:
    """The schedule, locked; None where it is no longer due."""
    still_due = (Schedule.id == schedule_id, Schedule.enabled, Schedule.next_run_at <= at)
    return session.exec(select(Schedule).where(*still_due).with_for_update()).one_or_none()
