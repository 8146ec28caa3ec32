"""SQL of background jobs. The row is the truth: every claim raises `attempt`, and every effect is fenced by it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlmodel import Session, and_, col, or_, select, update

from skillhub.ids import new_id
from skillhub.models import Job
from skillhub.store import clock, keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME


class Due(NamedTuple):
    """A job that waits for a claim."""

    job_id: str
    workspace_id: str


def insert(session: Session, *, workspace_id: str, kind: str, payload: dict[str, Any]) -> Job:
    job = Job(id=new_id("job"), workspace_id=workspace_id, kind=kind, payload=payload)
    session.add(job)
    session.flush()
    return job


def get(session: Session, job_id: str) -> Job | None:
    return session.get(Job, job_id)


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Job]:
    """Jobs with these values."""
    query = keyset.filtered(select(Job).where(Job.workspace_id == workspace_id), Job, filters)
    return keyset.page(session, query, Job, orders=ORDERS, start=start)


def claim(session: Session, job_id: str, *, lease_seconds: float, max_attempts: int) -> Job | None:
    """Begin the next attempt; None where the job is done, dead, or held by a live lease."""
    at = clock.now(session)
    free = or_(col(Job.state).in_(["queued", "failed"]), and_(Job.state == "running", col(Job.lease_expires_at) < at))
    statement = (
        update(Job)
        .where(Job.id == job_id, free, col(Job.attempt) < max_attempts)
        .values(state="running", attempt=Job.attempt + 1, lease_expires_at=at + timedelta(seconds=lease_seconds))
        .returning(Job)
    )
    return session.execute(statement).scalar_one_or_none()


def extend(session: Session, job_id: str, *, attempt: int, lease_seconds: float) -> bool:
    """Prolong the lease of an attempt; False where it is not the running one."""
    held = (Job.id == job_id, Job.attempt == attempt, Job.state == "running")
    expires_at = clock.now(session) + timedelta(seconds=lease_seconds)
    return session.exec(update(Job).where(*held).values(lease_expires_at=expires_at)).rowcount == 1


def lock(session: Session, job_id: str) -> Job | None:
    query = select(Job).where(Job.id == job_id).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def announce_due(session: Session, *, max_attempts: int, pause_seconds: float, limit: int) -> list[str]:
    """Ids of jobs that wait for a claim and of which the broker was last told `pause_seconds` ago, or before the lease of the
    last attempt ran out; marked as told now.

    Only the `limit` oldest waiting jobs are looked at, so that a long queue does not flood the broker.
    """
    at = clock.now(session)
    abandoned = and_(Job.state == "running", col(Job.lease_expires_at) < at)
    waiting = select(Job.id).where(or_(col(Job.state).in_(["queued", "failed"]), abandoned), col(Job.attempt) < max_attempts)
    oldest = waiting.order_by(Job.id).limit(limit).subquery()
    told_long_ago = col(Job.announced_at) < at - timedelta(seconds=pause_seconds)
    told_too_early = and_(abandoned, col(Job.announced_at) < col(Job.lease_expires_at))
    quiet = select(Job.id).where(col(Job.id).in_(select(oldest)), or_(told_long_ago, told_too_early))
    ids = session.exec(quiet.order_by(Job.id).with_for_update(skip_locked=True, key_share=True)).all()
    session.exec(update(Job).where(col(Job.id).in_(ids)).values(announced_at=at))
    return list(ids)


def exhausted(session: Session, *, max_attempts: int) -> list[Due]:
    """Jobs whose last attempt showed no sign of life."""
    query = select(Job.id, Job.workspace_id).where(
        Job.state == "running", col(Job.lease_expires_at) < clock.now(session), col(Job.attempt) >= max_attempts
    )
    return [Due(*row) for row in session.exec(query.order_by(Job.id))]
