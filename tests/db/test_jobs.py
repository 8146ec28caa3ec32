"""A job runs at least once and takes effect once; poison is contained; nothing that waits is forgotten."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from skillhub.config import Settings
from skillhub.models import Job
from skillhub.rollouts.ingest import EpisodeInput
from skillhub.rollouts.trace import TraceStep
from skillhub.services import candidates, curation, episodes, job_control, jobs, versions
from skillhub.services.jobs import Claim, Fenced
from skillhub.services.scope import Scope
from workers import runner
from workers.handlers import HANDLERS

SETTINGS = Settings(lease_seconds=60, max_attempts=3, retry_seconds=0)


@pytest.fixture
def job(scope: Scope) -> str:
    with scope.transaction() as unit:
        return unit.enqueue("note", text="hello").id


def claim(scope: Scope, job_id: str) -> Claim | None:
    return jobs.claim(scope.database, job_id, settings=SETTINGS)


def let_lease_run_out(scope: Scope) -> None:
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE job SET lease_expires_at = now() - interval '1 second' WHERE state = 'running'"))


def forget_announcements(scope: Scope) -> None:
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE job SET announced_at = now() - interval '1 hour'"))


def sweep(scope: Scope) -> list[str]:
    told: list[str] = []
    jobs.sweep(scope.database, told.append, SETTINGS)
    return told


def run(scope: Scope, job_id: str, handler: runner.Handler | None = None) -> bool:
    handlers = {"note": handler} if handler else HANDLERS
    return runner.run(scope.database, job_id, settings=SETTINGS, announce=lambda _: None, handlers=handlers)


def note(claim: Claim) -> None:
    with claim.effect() as unit:
        unit.record("note.written", claim.job_id)
        claim.result["attempt"] = claim.attempt


def notes(scope: Scope) -> int:
    with scope.transaction() as unit:
        return unit.session.execute(sa.text("SELECT count(*) FROM event WHERE kind = 'note.written'")).scalar_one()


def stored(scope: Scope, job_id: str) -> Job:
    return job_control.get(scope, job_id).job


def test_a_message_sent_many_times_at_once_takes_effect_once(scope: Scope, job: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        ran = list(pool.map(lambda _: run(scope, job, note), range(16)))
    assert (ran.count(True), notes(scope)) == (1, 1)
    assert (stored(scope, job).state, stored(scope, job).attempt, stored(scope, job).result) == (
        "succeeded", 1, {"attempt": 1},
    )  # fmt: skip


def test_the_effect_of_an_attempt_that_lost_its_lease_is_dropped(scope: Scope, job: str) -> None:
    slow = claim(scope, job)
    assert claim(scope, job) is None
    let_lease_run_out(scope)
    note(claim(scope, job))
    with pytest.raises(Fenced):
        note(slow)
    with pytest.raises(Fenced):
        slow.heartbeat()
    with pytest.raises(Fenced):
        slow.fail("too late")
    assert (notes(scope), stored(scope, job).result) == (1, {"attempt": 2})


def test_an_attempt_that_was_overtaken_but_not_finished_is_fenced_too(scope: Scope, job: str) -> None:
    slow = claim(scope, job)
    let_lease_run_out(scope)
    quick = claim(scope, job)
    with pytest.raises(Fenced):
        note(slow)
    note(quick)
    assert notes(scope) == 1


def test_an_effect_that_breaks_leaves_nothing_and_the_job_is_tried_again(scope: Scope, job: str) -> None:
    def half(claim: Claim) -> None:
        with claim.effect() as unit:
            unit.record("note.written", claim.job_id)
            raise RuntimeError("half way")

    assert run(scope, job, half)
    assert (notes(scope), stored(scope, job).state, stored(scope, job).error) == (0, "failed", "RuntimeError: half way")
    assert run(scope, job, note)
    assert (notes(scope), stored(scope, job).state, stored(scope, job).attempt) == (1, "succeeded", 2)


def test_a_job_that_always_breaks_is_dead_after_three_attempts(scope: Scope, job: str) -> None:
    def poison(claim: Claim) -> None:
        raise RuntimeError("poison")

    assert [run(scope, job, poison) for _ in range(5)] == [True, True, True, False, False]
    assert (stored(scope, job).state, stored(scope, job).attempt) == ("dead", 3)
    forget_announcements(scope)
    assert sweep(scope) == []


def test_a_job_whose_process_always_vanishes_is_dead_after_three_attempts(scope: Scope, job: str) -> None:
    for _ in range(3):
        assert claim(scope, job) is not None
        let_lease_run_out(scope)
    assert claim(scope, job) is None
    assert sweep(scope) == []
    assert (stored(scope, job).state, stored(scope, job).attempt) == ("dead", 3)
    assert "no sign of life" in stored(scope, job).error


def test_a_job_of_an_unknown_kind_says_so(scope: Scope, job: str) -> None:
    assert run(scope, job)
    assert "no handler" in stored(scope, job).error


def test_the_sweeper_tells_the_broker_of_what_waits_but_not_too_often(scope: Scope, job: str) -> None:
    assert sweep(scope) == []
    forget_announcements(scope)
    assert sweep(scope) == [job]
    assert sweep(scope) == []


def test_the_sweeper_finds_jobs_whose_worker_vanished(scope: Scope, job: str) -> None:
    claim(scope, job)
    forget_announcements(scope)
    assert sweep(scope) == []
    let_lease_run_out(scope)
    assert sweep(scope) == [job]


def test_a_long_queue_does_not_flood_the_broker(scope: Scope) -> None:
    with scope.transaction() as unit:
        ids = [unit.enqueue("note", number=number).id for number in range(150)]
    forget_announcements(scope)
    assert len(sweep(scope)) == 100
    assert sweep(scope) == []
    assert len(ids) == 150


def test_jobs_are_announced_only_after_their_transaction_committed(scope: Scope) -> None:
    told: list[str] = []
    loud = Scope(scope.database, scope.workspace_id, "tester", told.append)
    with pytest.raises(RuntimeError), loud.transaction() as unit:
        unit.enqueue("note")
        raise RuntimeError
    assert told == []
    started = curation.request_extraction(loud, slices=["boil", "freeze", "boil"], split="train")
    assert told == [one.id for one in started]
    assert [one.payload["slices"] for one in started] == [["boil"], ["freeze"], ["boil", "freeze"]]


def play(number: int, *, thing: str, success: bool = True, key: str | None = None) -> EpisodeInput:
    actions = ["open cupboard", f"pick up {thing}", f"move {thing} to stove", "activate stove"]
    actions = actions if success else [f"focus on {thing}"]
    score = float(success)
    return EpisodeInput(
        key=key or f"e{number}", environment="kitchen", task=f"Your task is to boil {thing}.", slice="boil", split="train",
        score=score, success=success, steps=tuple(TraceStep("a kitchen", action, score=score) for action in actions),
    )  # fmt: skip


def extract(scope: Scope) -> Job:
    [started] = curation.request_extraction(scope, slices=["boil"], split="train")
    assert run(scope, started.id)
    return stored(scope, started.id)


def test_extraction_proposes_candidates_with_the_episodes_they_rest_on(scope: Scope) -> None:
    episodes.ingest(scope, [play(i, thing=thing) for i, thing in enumerate(["water", "lead", "tin"])])
    done = extract(scope)
    assert done.state == "succeeded", done.error
    found = [candidates.get(scope, candidate_id) for candidate_id in done.result["candidate_ids"]]
    skill = next(view for view in found if view.candidate.kind == "skill")
    assert (skill.candidate.target_slice, skill.candidate.proposer) == ("boil", "extract")
    assert all(len(ids) >= 2 for row, ids in skill.evidence if row.polarity > 0)


def test_two_episodes_are_too_few_and_one_recorded_thrice_counts_once(scope: Scope) -> None:
    copies = [play(0, thing="water", key=key) for key in ("a", "b", "c")]
    episodes.ingest(scope, [*copies, play(1, thing="lead")])
    done = extract(scope)
    assert done.result["candidate_ids"] == []
    assert "2 independent episodes, 3 needed" in done.log


def test_extraction_proposes_the_same_thing_once(scope: Scope) -> None:
    episodes.ingest(scope, [play(i, thing=thing) for i, thing in enumerate(["water", "lead", "tin"])])
    first = extract(scope)
    again = extract(scope)
    assert first.result["candidate_ids"]
    assert again.result["candidate_ids"] == []
    assert "identical to candidate" in again.log


def test_extraction_does_not_propose_what_is_in_production(scope: Scope) -> None:
    episodes.ingest(scope, [play(i, thing=thing) for i, thing in enumerate(["water", "lead", "tin"])])
    first = [candidates.get(scope, one).candidate for one in extract(scope).result["candidate_ids"]]
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("DELETE FROM evidence_episode; DELETE FROM evidence; DELETE FROM candidate"))
    with scope.transaction() as unit:
        for one in first:
            versions.publish_in(unit, name=one.skill_name, kind=one.kind, document=one.document)
    again = extract(scope)
    assert again.result["candidate_ids"] == []
    assert "identical to production" in again.log


def test_a_slice_without_a_success_gives_no_candidates(scope: Scope) -> None:
    episodes.ingest(scope, [play(0, thing="water", success=False)])
    assert extract(scope).result == {"candidate_ids": []}
