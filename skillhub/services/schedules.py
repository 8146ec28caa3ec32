"""Jobs at set times. PostgreSQL holds the times, every sweeper looks at them, and each due time gives exactly one job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from croniter import CroniterError, croniter

from skillhub.errors import Invalid, NotFound
from skillhub.ids import new_id
from skillhub.models import Schedule
from skillhub.services.curation import RULES_JOB, SKILLS_JOB
from skillhub.services.scope import Scope, Unit
from skillhub.store import clock, events, schedules
from skillhub.store.session import Database

KINDS = (SKILLS_JOB, RULES_JOB)
"""Kinds of jobs that a person may schedule."""
CRON_FIELDS = 5


@dataclass(frozen=True, kw_only=True)
class ScheduleInput:
    """When and what: `cron` (five fields, UTC) or `every_seconds`, never both."""

    kind: str
    payload: Mapping[str, Any]
    cron: str | None = None
    every_seconds: int | None = None
    enabled: bool = True


def put(scope: Scope, name: str, item: ScheduleInput) -> Schedule:
    """Make a schedule, or replace the one of that name; its next time is the first one from now. Errors: Invalid."""
    check(item)
    with scope.transaction() as unit:
        events.lock(unit.session, unit.workspace_id)  # two who make the same name at once come one after the other
        row = schedules.named(unit.session, workspace_id=unit.workspace_id, name=name)
        row = row or Schedule(id=new_id("sch"), workspace_id=unit.workspace_id, name=name, kind=item.kind)
        row.kind, row.payload, row.enabled = item.kind, dict(item.payload), item.enabled
        row.cron, row.every_seconds = item.cron, item.every_seconds
        row.next_run_at = next_time(row, clock.now(unit.session))
        unit.session.add(row)
        unit.session.flush()
        unit.record("schedule.put", row.id, name=name, kind=row.kind, cron=row.cron, every_seconds=row.every_seconds)
        return row


def get(scope: Scope, name: str) -> Schedule:
    """NotFound for an unknown name."""
    with scope.transaction() as unit:
        return _named(unit, name)


def page(scope: Scope, *, after: str | None, limit: int) -> Sequence[Schedule]:
    """Schedules by name; `after` is a name."""
    with scope.transaction() as unit:
        return schedules.page(unit.session, workspace_id=unit.workspace_id, after=after, limit=limit)


def delete(scope: Scope, name: str) -> None:
    """Its jobs stay. NotFound for an unknown name."""
    with scope.transaction() as unit:
        events.lock(unit.session, unit.workspace_id)
        row = _named(unit, name)
        unit.session.delete(row)
        unit.session.flush()
        unit.record("schedule.deleted", row.id, name=name)


def fire_due(database: Database, announce: Callable[[str], None]) -> int:
    """Enqueue a job for each schedule that is due; times that were missed give one job together. Returns how many."""
    with database.system_transaction() as session:
        due = schedules.due(session, clock.now(session))
    return sum(_fire(Scope(database, owner, "system", announce), schedule_id) for owner, schedule_id in due)


def check(item: ScheduleInput) -> None:
    """Invalid, with the path, where the times or the input cannot be."""
    if (item.cron is None) == (item.every_seconds is None):
        raise Invalid("give either `cron` or `every_seconds`", path="/body/cron")
    if item.kind == SKILLS_JOB and len(item.payload["slices"]) != 1:
        raise Invalid("a skill is drawn from one slice", path="/body/payload/slices")
    if item.cron is not None:
        _check_cron(item.cron)


def next_time(row: Schedule, at: datetime) -> datetime:
    """The first time of the schedule after `at`; one of `every_seconds` keeps its beat."""
    if row.cron is not None:
        return croniter(row.cron, at).get_next(datetime)
    every = timedelta(seconds=row.every_seconds)
    last = row.next_run_at if row.last_run_at else at
    return last + every * ((at - last) // every + 1)


def _check_cron(cron: str) -> None:
    try:
        if len(cron.split()) != CRON_FIELDS:
            raise Invalid(f"{cron!r} has not {CRON_FIELDS} fields: minute hour day month weekday", path="/body/cron")
        croniter(cron).get_next()
    except (CroniterError, ValueError, OverflowError) as error:
        raise Invalid(f"{cron!r} names no time: {error}", path="/body/cron") from error


def _fire(scope: Scope, schedule_id: str) -> bool:
    """Job, next time and event are one transaction: after a crash there are all or none."""
    with scope.transaction() as unit:
        events.lock(unit.session, unit.workspace_id)
        at = clock.now(unit.session)
        row = schedules.lock_due(unit.session, schedule_id, at)
        if row is None:
            return False
        job = unit.enqueue(row.kind, **row.payload)
        row.last_run_at = at
        row.last_job_id, row.next_run_at = job.id, next_time(row, at)
        unit.session.add(row)
        unit.session.flush()
        unit.record("schedule.fired", row.id, name=row.name, job_id=job.id)
        return True


def _named(unit: Unit, name: str) -> Schedule:
    row = schedules.named(unit.session, workspace_id=unit.workspace_id, name=name)
    if row is None:
        raise NotFound(f"there is no schedule {name!r}")
    return row
