"""Trials are leased work: each run counts once, and what is lost comes back or is named."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.models import Trial, Workspace
from skillhub.rollouts.ingest import EpisodeInput, ExposureInput
from skillhub.services import candidates, episodes, gates, trials
from skillhub.services.scope import Scope
from tests.db.gating import finish, lease, lease_one, open_gate, propose, put_suite


@pytest.fixture
def gate(scope: Scope) -> str:
    """An open gate of the skill `boil`."""
    put_suite(scope)
    return open_gate(scope, propose(scope)).gate.id


def let_leases_run_out(scope: Scope) -> None:
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE trial SET lease_expires_at = now() - interval '1 second' WHERE state = 'leased'"))


def stored(scope: Scope, trial_id: str) -> Trial:
    with scope.transaction() as unit:
        return trials.trials.get(unit.session, trial_id)


def episode_input(key: str = "e1", *, score: float = 0.5) -> EpisodeInput:
    return EpisodeInput(
        key=key, environment="kitchen", task="boil water", slice="wrong", split="train", score=score, success=False
    )


def test_two_runners_at_once_never_get_the_same_trial(scope: Scope) -> None:
    put_suite(scope)
    open_gate(scope, propose(scope), policy={"open_pairs": 16})
    with ThreadPoolExecutor(8) as pool:
        leased = [one for many in pool.map(lambda i: lease(scope, runner=f"r{i}", limit=3), range(16)) for one in many]
    ids = [one.trial.id for one in leased]
    assert len(ids) == len(set(ids)) == 32
    assert {stored(scope, trial_id).attempt for trial_id in ids} == {1}


def test_trials_finished_by_many_runners_at_once_decide_once(scope: Scope, gate: str) -> None:
    def run(number: int) -> int:
        done = 0
        while one := lease_one(scope, runner=f"r{number}"):
            finish(scope, one, 1.0 if one.trial.arm == "candidate" else 0.0)
            done += 1
        return done

    with ThreadPoolExecutor(4) as pool:
        total = sum(pool.map(run, range(4)))
    view = gates.get(scope, gate)
    assert view.decision.verdict == "accepted"
    assert total == sum(trial.state == "finished" for trial, _ in view.trials)


def test_a_begun_pair_is_completed_before_another_is_begun(scope: Scope, gate: str) -> None:
    order = [(one.trial.pair, one.trial.arm) for one in (lease_one(scope) for _ in range(4))]
    assert order == [(0, "base"), (0, "candidate"), (1, "base"), (1, "candidate")]


def test_gates_advance_together(scope: Scope) -> None:
    put_suite(scope, dev=30)
    first = open_gate(scope, propose(scope)).gate.id
    second = open_gate(scope, propose(scope, "Stir.")).gate.id
    served = []
    for _ in range(8):
        one = lease_one(scope)
        served.append(one.trial.gate_id)
        finish(scope, one, 0.5)
    assert served.count(first) == served.count(second) == 4


def test_a_runner_can_ask_for_the_trials_of_one_suite(scope: Scope, gate: str) -> None:
    put_suite(scope, name="other")
    other = open_gate(scope, propose(scope, "Stir."), suite="other").gate.id
    assert {one.trial.gate_id for one in lease(scope, limit=50, suite_names=["other"])} == {other}
    with pytest.raises(NotFound):
        lease(scope, suite_names=["nowhere"])


def test_finishing_twice_with_the_same_score_changes_nothing(scope: Scope, gate: str) -> None:
    one = lease_one(scope)
    first = finish(scope, one, 0.25, episode=episode_input(score=0.25))
    again = finish(scope, one, 0.25, episode=episode_input(score=0.25))
    assert again.trial.episode_id == first.trial.episode_id
    with pytest.raises(Conflict):
        finish(scope, one, 0.75)
    assert stored(scope, one.trial.id).score == 0.25


def test_a_lost_lease_changes_nothing(scope: Scope, gate: str) -> None:
    lost = lease_one(scope)
    let_leases_run_out(scope)
    found = lease_one(scope, runner="r2")
    assert found.trial.id == lost.trial.id
    with pytest.raises(Conflict) as caught:
        finish(scope, lost, 1.0)
    assert caught.value.code == "lease_lost"
    with pytest.raises(Conflict):
        trials.heartbeat(scope, lost.trial.id, lease_token=lost.trial.lease_token, lease_seconds=60)
    with pytest.raises(Conflict):
        trials.fail(scope, lost.trial.id, lease_token=lost.trial.lease_token, error="x", max_attempts=3)
    assert finish(scope, found, 0.5).trial.attempt == 2


def test_a_sign_of_life_prolongs_the_lease(scope: Scope, gate: str) -> None:
    one = lease_one(scope)
    before = stored(scope, one.trial.id).lease_expires_at
    trials.heartbeat(scope, one.trial.id, lease_token=one.trial.lease_token, lease_seconds=600)
    assert (stored(scope, one.trial.id).lease_expires_at - before).total_seconds() > 300


def test_a_run_that_breaks_is_tried_again_and_then_makes_an_error_never_a_score(scope: Scope, gate: str) -> None:
    for attempt in range(1, 4):
        one = lease_one(scope)
        assert one.trial.attempt == attempt
        view = trials.fail(scope, one.trial.id, lease_token=one.trial.lease_token, error="simulator crashed", max_attempts=3)
    assert (view.trial.state, view.trial.score) == ("failed", None)
    decided = gates.get(scope, gate)
    assert decided.decision.verdict == "error"
    assert one.trial.id in decided.decision.reason
    assert candidates.get(scope, decided.gate.candidate_id).candidate.state == "error"
    assert lease_one(scope) is None


def test_a_runner_that_vanishes_three_times_makes_an_error(scope: Scope, gate: str) -> None:
    for _ in range(3):
        assert lease_one(scope) is not None
        let_leases_run_out(scope)
    assert trials.expire(scope.database, max_attempts=3) == 1
    assert gates.get(scope, gate).decision.verdict == "error"


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan")])
def test_a_score_outside_zero_and_one_is_refused_with_its_trial_and_the_lease_stays(
    scope: Scope, gate: str, score: float
) -> None:
    one = lease_one(scope)
    with pytest.raises(Invalid, match=one.trial.id):
        finish(scope, one, score)
    assert stored(scope, one.trial.id).state == "leased"


def test_a_zero_is_a_score(scope: Scope, gate: str) -> None:
    assert finish(scope, lease_one(scope), 0.0).trial.score == 0.0


def test_the_episode_of_a_trial_is_stored_with_what_was_shown(scope: Scope, gate: str) -> None:
    base, candidate = lease(scope, limit=2)
    lie = ExposureInput(candidate_id=candidate.documents[0].candidate_id, rank=9, score=0.1)
    finish(scope, base, 0.5, episode=episode_input("e1"))
    finish(scope, candidate, 0.5, episode=EpisodeInput(**(vars(episode_input("e2")) | {"exposures": (lie,)})))
    with_base, _, nothing = episodes.get(scope, stored(scope, base.trial.id).episode_id)
    with_candidate, _, shown = episodes.get(scope, stored(scope, candidate.trial.id).episode_id)
    assert list(nothing) == []
    assert [(one.candidate_id, one.rank) for one in shown] == [(candidate.documents[0].candidate_id, 1)]
    assert (with_base.slice, with_base.split, with_base.trial_id) == ("boil", "dev", base.trial.id)
    assert with_candidate.trial_id == candidate.trial.id


def test_an_episode_that_is_refused_leaves_the_trial_unfinished(scope: Scope, gate: str) -> None:
    one = lease_one(scope)
    bad = EpisodeInput(**(vars(episode_input()) | {"score": 1.5}))
    with pytest.raises(Invalid):
        finish(scope, one, 0.5, episode=bad)
    assert stored(scope, one.trial.id).state == "leased"


def test_a_score_that_is_not_the_one_of_its_episode_is_refused_and_both_are_named(scope: Scope, gate: str) -> None:
    one = lease_one(scope)
    with pytest.raises(Invalid, match=r"0\.75.*0\.5"):
        finish(scope, one, 0.75, episode=episode_input(score=0.5))
    assert stored(scope, one.trial.id).state == "leased"


def test_episodes_of_trials_are_hidden_from_extraction(scope: Scope, gate: str) -> None:
    finish(scope, lease_one(scope), 1.0, episode=episode_input(score=1.0))
    assert episodes.traces(scope, slice="boil", split="train") == []


def test_a_trial_still_running_when_its_gate_is_decided_is_stored_and_decides_nothing(scope: Scope, gate: str) -> None:
    running = []
    while gates.get(scope, gate).decision is None:
        for one in lease(scope, limit=8):
            if one.trial.pair < 7:
                finish(scope, one, 1.0 if one.trial.arm == "candidate" else 0.0)
            else:
                running.append(one)
    decision = gates.get(scope, gate).decision
    assert running and decision.verdict == "accepted"
    late = finish(scope, running[0], 0.0, episode=episode_input(score=0.0))
    assert (late.trial.state, late.gate.state) == ("finished", "decided")
    assert gates.get(scope, gate).decision == decision
    let_leases_run_out(scope)
    trials.expire(scope.database, max_attempts=3)
    assert {trial.state for trial, _ in gates.get(scope, gate).trials} == {"finished", "cancelled"}


def test_a_neighbour_can_neither_see_nor_finish_a_trial(scope: Scope, gate: str) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    neighbour = Scope(scope.database, "wsp_other", "neighbour")
    assert lease(neighbour, limit=50) == []
    one = lease_one(scope)
    with pytest.raises(NotFound):
        finish(neighbour, one, 1.0)
