"""SQL of leased work: claimed for a while, kept by signs of life, given back when these end. For each table of trials."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, TypeVar

from sqlmodel import Session, col, select, update

from skillhub.models import ScreeningTrial, Trial
from skillhub.store import clock

T = TypeVar("T", Trial, ScreeningTrial)


class Expired(NamedTuple):
    """A lease that ran out."""

    workspace_id: str
    trial_id: str


def claim(session: Session, table: type[T], ids: Sequence[str], *, runner: str, lease_seconds: float) -> list[T]:
    """Lease these pending rows, which the caller has locked; in the order of the ids."""
    found = {trial.id: trial for trial in session.exec(select(table).where(col(table.id).in_(ids)))}
    expires_at = clock.now(session) + timedelta(seconds=lease_seconds)
    for trial in found.values():
        trial.state, trial.attempt, trial.runner = "leased", trial.attempt + 1, runner
        trial.lease_token, trial.lease_expires_at, trial.error = secrets.token_urlsafe(16), expires_at, None
    session.flush()
    return [found[trial_id] for trial_id in ids]


def lock(session: Session, table: type[T], trial_id: str) -> T | None:
    query = select(table).where(table.id == trial_id).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def extend(session: Session, table: type[T], *, trial_id: str, lease_token: str, lease_seconds: float) -> bool:
    """Prolong a lease; False where it is no longer the caller's."""
    held = (table.id == trial_id, table.lease_token == lease_token, table.state == "leased")
    expires_at = clock.now(session) + timedelta(seconds=lease_seconds)
    return session.exec(update(table).where(*held).values(lease_expires_at=expires_at)).rowcount == 1


def expired(session: Session, table: type[T], *, workspace_id: str | None = None, limit: int = 500) -> list[Expired]:
    """Leases that ran out, of one workspace or of all."""
    over = col(table.lease_expires_at) < clock.now(session)
    query = select(table.workspace_id, table.id).where(table.state == "leased", over)
    if workspace_id is not None:
        query = query.where(table.workspace_id == workspace_id)
    return [Expired(*row) for row in session.exec(query.order_by(table.id).limit(limit))]
