"""Who acts, where, and how waiting work is announced. The first argument of every use case."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from skillhub.models import Job
from skillhub.store import events, jobs
from skillhub.store.session import Database


def _announce_nothing(job_id: str) -> None:
    """Without a broker the sweeper finds the job."""


@dataclass(frozen=True)
class Scope:
    """One actor in one workspace."""

    database: Database
    workspace_id: str
    actor: str
    """Id of the API key, or `system`."""
    announce: Callable[[str], None] = _announce_nothing
    """Tells the broker that a job waits; called only after the commit."""
    role: str = "admin"
    """What the actor may do; see `skillhub.services.keys`."""

    @contextmanager
    def transaction(self) -> Iterator["Unit"]:
        """One transaction of one use case; jobs it enqueued are announced after it committed."""
        with self.database.transaction(self.workspace_id) as session:
            unit = Unit(session=session, scope=self, jobs=[])
            yield unit
        for job_id in unit.jobs:
            self.announce(job_id)


@dataclass(frozen=True)
class Unit:
    """An open transaction, with the two things every use case does in it: log and enqueue."""

    session: Session
    scope: Scope
    jobs: list[str]

    @property
    def workspace_id(self) -> str:
        return self.scope.workspace_id

    def record(self, kind: str, subject_id: str, /, **payload: Any) -> int:
        """Append an event; returns its `seq`."""
        return events.append(
            self.session,
            workspace_id=self.workspace_id,
            actor=self.scope.actor,
            kind=kind,
            subject_id=subject_id,
            payload=payload,
        )

    def enqueue(self, kind: str, **payload: Any) -> Job:
        """Insert a job in this transaction."""
        job = jobs.insert(self.session, workspace_id=self.workspace_id, kind=kind, payload=payload)
        self.jobs.append(job.id)
        return job
