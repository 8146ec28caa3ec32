"""Jobs can be watched, cancelled, started over; a failed attempt is not the next moment's attempt."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from skillhub.errors import Conflict, NotFound
from skillhub.models import Job
from skillhub.services import job_control, jobs
from skillhub.services.jobs import MAX_LOG, Claim, Fenced
from skillhub.services.scope import Scope
from tests.db.test_jobs import SETTINGS, claim, let_lease_run_out, note, notes, run, stored, sweep
from workers import runner


@pytest.fixture
def job(scope: Scope) -> str:
    with scope.transaction() as unit:
        return unit.enqueue("note", text="hello").id


def attempts(scope: Scope, job_id: str) -> list[tuple[int, str, str | None]]:
    return [(one.number, one.state, one.error) for one in job_control.get(scope, job_id).attempts]


def break_down(claim: Claim) -> None:
    raise RuntimeError("poison")


def kill(scope: Scope, job_id: str) -> Job:
    """Make it dead."""
    while run(scope, job_id, break_down):
        pass
    return stored(scope, job_id)


def test_progress_and_log_are_seen_while_the_job_runs(scope: Scope, job: str) -> None:
    seen: list[Job] = []

    def slow(claim: Claim) -> None:
        claim.log("half of it is read")
        claim.progress(0.5)
        claim.heartbeat()
        seen.append(stored(scope, claim.job_id))
        note(claim)

    assert run(scope, job, slow)
    assert (seen[0].state, seen[0].progress, seen[0].log) == ("running", 0.5, "attempt 1: half of it is read\n")
    assert (stored(scope, job).state, stored(scope, job).progress) == ("succeeded", 1.0)


def test_a_log_keeps_its_end_and_a_bound(scope: Scope, job: str) -> None:
    def talk(claim: Claim) -> None:
        for number in range(3000):
            claim.log(f"line {number} " + "x" * 100)
        note(claim)

    run(scope, job, talk)
    log = stored(scope, job).log
    assert len(log) == MAX_LOG
    assert (log.startswith("(earlier lines were dropped)"), "line 2999" in log) == (True, True)


def test_what_cannot_be_stored_in_a_line_or_an_error_is_replaced(scope: Scope, job: str) -> None:
    odd = claim(scope, job)
    odd.log("nul \0 and half a pair \ud83d")
    odd.fail("nul \0 and half a pair \ud83d")
    assert stored(scope, job).state == "failed"
    assert "nul \ufffd and half a pair \ufffd" in stored(scope, job).error
    assert "nul \ufffd and half a pair \ufffd" in stored(scope, job).log


def test_lines_of_an_effect_are_stored_with_it(scope: Scope, job: str) -> None:
    def inside(claim: Claim) -> None:
        with claim.effect():
            claim.log("written in the effect")
            claim.progress(0.9)

    run(scope, job, inside)
    assert (stored(scope, job).log, stored(scope, job).state) == ("attempt 1: written in the effect\n", "succeeded")


def test_a_queued_job_that_is_cancelled_is_never_begun(scope: Scope, job: str) -> None:
    view = job_control.cancel(scope, job)
    assert (view.job.state, view.job.finished_at is not None) == ("cancelled", True)
    assert run(scope, job, note) is False
    assert sweep(scope) == []
    assert job_control.cancel(scope, job).job.finished_at == view.job.finished_at


@pytest.mark.parametrize("speak", [Claim.heartbeat, lambda claim: claim.log("still here"), lambda claim: claim.progress(0.1)])
def test_a_running_job_that_is_cancelled_learns_of_it_and_takes_no_effect(scope: Scope, job: str, speak: object) -> None:
    running = claim(scope, job)
    job_control.cancel(scope, job)
    with pytest.raises(Fenced):
        speak(running)
    with pytest.raises(Fenced):
        note(running)
    with pytest.raises(Fenced):
        running.fail("too late")
    assert (notes(scope), stored(scope, job).state) == (0, "cancelled")
    assert attempts(scope, job) == [(1, "cancelled", None)]


def test_what_is_over_cannot_be_cancelled_and_what_is_not_over_not_started_again(scope: Scope, job: str) -> None:
    with pytest.raises(Conflict):
        job_control.retry(scope, [job])
    run(scope, job, note)
    for change in (lambda: job_control.cancel(scope, job), lambda: job_control.retry(scope, [job])):
        with pytest.raises(Conflict):
            change()
    with pytest.raises(NotFound):
        job_control.cancel(scope, "job_none")


def test_a_dead_job_keeps_its_input_and_error_and_can_be_started_over(scope: Scope, job: str) -> None:
    dead = kill(scope, job)
    assert (dead.state, dead.payload, dead.error) == ("dead", {"text": "hello"}, "RuntimeError: poison")
    job_control.retry(scope, [job])
    again = kill(scope, job)
    assert (again.state, again.attempt) == ("dead", 6)
    job_control.retry(scope, [job])
    assert run(scope, job, note)
    assert (stored(scope, job).state, stored(scope, job).error, notes(scope)) == ("succeeded", None, 1)
    assert attempts(scope, job) == [*((n, "failed", "RuntimeError: poison") for n in range(1, 7)), (7, "succeeded", None)]


def test_an_attempt_from_before_a_retry_takes_no_effect(scope: Scope, job: str) -> None:
    slow = claim(scope, job)
    job_control.cancel(scope, job)
    job_control.retry(scope, [job])
    assert run(scope, job, note)
    with pytest.raises(Fenced):
        note(slow)
    assert notes(scope) == 1


def test_several_are_started_over_all_or_none(scope: Scope) -> None:
    with scope.transaction() as unit:
        ids = [unit.enqueue("note", number=number).id for number in range(3)]
    for job_id in ids[:2]:
        kill(scope, job_id)
    with pytest.raises(Conflict):
        job_control.retry(scope, ids)
    assert stored(scope, ids[0]).state == "dead"
    told: list[str] = []
    loud = Scope(scope.database, scope.workspace_id, "tester", told.append)
    assert [view.job.state for view in job_control.retry(loud, ids[:2])] == ["queued", "queued"]
    assert told == ids[:2]


def test_an_attempt_that_failed_is_followed_by_a_pause_that_grows(scope: Scope, job: str) -> None:
    patient = SETTINGS.model_copy(update={"retry_seconds": 100.0})
    pauses = []
    for _ in range(2):
        claimed = jobs.claim(scope.database, job, settings=patient)
        claimed.fail("broke")
        pauses.append(stored(scope, job).run_after - datetime.now(UTC))
        assert jobs.claim(scope.database, job, settings=patient) is None
        assert sweep(scope) == []
        with scope.database.engine.begin() as owner:
            owner.execute(sa.text("UPDATE job SET run_after = now() - interval '1 s', announced_at = now() - interval '2 s'"))
        assert sweep(scope) == [job]
    assert timedelta(seconds=45) < pauses[0] < timedelta(seconds=100) < pauses[1] + timedelta(seconds=5)
    assert [jobs.pause_seconds(2.0, n) <= 300 for n in (1, 10, 60)] == [True] * 3


def test_a_job_given_back_waits_for_nobody_and_the_attempt_does_not_count(scope: Scope, job: str) -> None:
    told: list[str] = []
    for number in range(1, 6):
        given = jobs.claim(scope.database, job, settings=SETTINGS, announce=told.append)
        assert given.attempt == number
        given.give_back()
        assert (stored(scope, job).state, stored(scope, job).lease_expires_at) == ("queued", None)
        with pytest.raises(Fenced):
            given.log("still here")
    assert told == [job] * 5
    assert run(scope, job, note)
    assert attempts(scope, job) == [*((n, "given_back", None) for n in range(1, 6)), (6, "succeeded", None)]


def test_an_attempt_that_vanished_is_told(scope: Scope, job: str) -> None:
    claim(scope, job)
    let_lease_run_out(scope)
    run(scope, job, note)
    assert attempts(scope, job) == [(1, "vanished", None), (2, "succeeded", None)]


def test_malformed_input_ends_as_a_dead_job_with_its_input(scope: Scope) -> None:
    with scope.transaction() as unit:
        job_id = unit.enqueue("curation.extract_skills", slice="no list of slices").id
    while runner.run(scope.database, job_id, settings=SETTINGS, announce=lambda _: None):
        pass
    dead = stored(scope, job_id)
    assert (dead.state, dead.attempt, dead.payload) == ("dead", 3, {"slice": "no list of slices"})
    assert "KeyError" in dead.error
