"""A due time gives exactly one job, however many sweepers look and whatever dies in between."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from skillhub.errors import Invalid, NotFound
from skillhub.models import Schedule
from skillhub.services import job_control, schedules
from skillhub.services.curation import RULES_JOB, SKILLS_JOB
from skillhub.services.schedules import ScheduleInput
from skillhub.services.scope import Scope

BOIL = {"slices": ["boil"], "split": "train"}
HOUR = timedelta(hours=1)


def put(scope: Scope, name: str = "nightly", **more: object) -> Schedule:
    fields = {"kind": SKILLS_JOB, "payload": BOIL} | ({"cron": "0 3 * * *"} if "every_seconds" not in more else {}) | more
    return schedules.put(scope, name, ScheduleInput(**fields))


def make_due(scope: Scope, ago: timedelta = HOUR) -> None:
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE schedule SET next_run_at = now() - :ago"), {"ago": ago})


def fire(scope: Scope) -> int:
    return schedules.fire_due(scope.database, lambda job_id: None)


def enqueued(scope: Scope) -> list[str]:
    return [job.id for job in job_control.page(scope)]


def test_nothing_runs_before_its_time(scope: Scope) -> None:
    assert put(scope).next_run_at > datetime.now(UTC)
    assert (fire(scope), enqueued(scope)) == (0, [])


def test_a_due_time_gives_one_job_under_many_sweepers(scope: Scope) -> None:
    put(scope)
    make_due(scope)
    with ThreadPoolExecutor(8) as pool:
        fired = list(pool.map(lambda _: fire(scope), range(16)))
    assert (sum(fired), len(enqueued(scope))) == (1, 1)
    row = schedules.get(scope, "nightly")
    assert (row.last_job_id, row.next_run_at > datetime.now(UTC)) == (enqueued(scope)[0], True)
    assert job_control.get(scope, row.last_job_id).job.payload == BOIL


def test_times_that_were_missed_give_one_job_together(scope: Scope) -> None:
    put(scope, every_seconds=60)
    make_due(scope, timedelta(days=3))
    assert (fire(scope), fire(scope), len(enqueued(scope))) == (1, 0, 1)


def test_a_schedule_of_seconds_keeps_its_beat(scope: Scope) -> None:
    row = put(scope, every_seconds=60)
    row.last_run_at = row.next_run_at
    row.next_run_at = datetime(2026, 1, 1, 12, 0, 7, tzinfo=UTC)
    late = datetime(2026, 1, 1, 12, 5, 30, tzinfo=UTC)
    assert schedules.next_time(row, late) == datetime(2026, 1, 1, 12, 6, 7, tzinfo=UTC)


def test_a_crash_before_the_commit_leaves_the_time_due_and_no_job(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    put(scope)
    make_due(scope)
    with monkeypatch.context() as patch:
        patch.setattr(schedules, "next_time", lambda row, at: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fire(scope)
    assert enqueued(scope) == []
    assert (fire(scope), len(enqueued(scope))) == (1, 1)


def test_a_crash_after_the_commit_gives_no_second_job(scope: Scope) -> None:
    put(scope)
    make_due(scope)

    def die(job_id: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        schedules.fire_due(scope.database, die)
    assert (fire(scope), len(enqueued(scope))) == (0, 1)


def test_a_schedule_that_is_off_or_gone_does_not_run(scope: Scope) -> None:
    put(scope, enabled=False)
    make_due(scope)
    assert fire(scope) == 0
    schedules.delete(scope, "nightly")
    with pytest.raises(NotFound):
        schedules.get(scope, "nightly")


def test_the_same_name_made_by_many_at_once_is_one_schedule(scope: Scope) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = {row.id for row in pool.map(lambda _: put(scope), range(16))}
    assert len(ids) == len(schedules.page(scope, after=None, limit=10)) == 1


@pytest.mark.parametrize(
    "cron", ["", "nonsense", "61 * * * *", "* * * *", "* * * * * *", "0 0 30 2 *", "H H * * *", "@daily", "0 0 * * 8"]
)
def test_a_cron_expression_that_names_no_time_is_invalid_with_its_path(scope: Scope, cron: str) -> None:
    with pytest.raises(Invalid) as caught:
        put(scope, cron=cron)
    assert caught.value.errors[0]["path"] == "/body/cron"


def test_either_cron_or_seconds_and_one_slice_for_a_skill(scope: Scope) -> None:
    with pytest.raises(Invalid):
        put(scope, cron="0 3 * * *", every_seconds=60)
    with pytest.raises(Invalid):
        put(scope, cron=None)
    with pytest.raises(Invalid) as caught:
        put(scope, payload={"slices": ["boil", "freeze"], "split": "train"})
    assert caught.value.errors[0]["path"] == "/body/payload/slices"
    assert put(scope, kind=RULES_JOB, payload={"slices": ["boil", "freeze"], "split": "train"}).enabled
