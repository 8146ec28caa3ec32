"""A candidate becomes a version only through its gate."""

import pytest
import sqlalchemy as sa
from sqlmodel import select

from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.models import Event
from skillhub.rollouts.ingest import EpisodeInput
from skillhub.services import candidates, episodes, gates, skills, versions
from skillhub.services.scope import Scope
from tests import chain
from tests.db.gating import by_arm, document, finish, lease, open_gate, propose, put_suite, work_off


def production(scope: Scope, name: str = "boil") -> versions.VersionView:
    number = skills.get(scope, name).labels["production"]
    return versions.get(scope, name=name, number=number)


def publish(scope: Scope, steps: str) -> None:
    with scope.transaction() as unit:
        versions.publish_in(unit, name="boil", kind="skill", document=document(steps))


def kinds(scope: Scope) -> list[str]:
    with scope.transaction() as unit:
        return list(unit.session.exec(select(Event.kind).order_by(Event.seq)))


def test_a_proven_candidate_is_published_with_its_decision(scope: Scope) -> None:
    put_suite(scope)
    candidate = propose(scope)
    gate = open_gate(scope, candidate).gate
    work_off(scope, by_arm(base=0.05, candidate=0.9))
    view = candidates.get(scope, candidate.id)
    assert (view.candidate.state, view.decision.verdict) == ("accepted", "accepted")
    published = production(scope)
    assert published.version.id == view.decision.version_id
    assert published.version.document == candidate.document
    assert published.version.content_sha256 == gate.candidate_sha256
    assert published.version.candidate_id == candidate.id
    assert {"gate.registered", "trial.finished", "version.published", "label.moved", "gate.decided"} <= set(kinds(scope))


def test_a_harmful_candidate_is_rejected_early_and_the_base_stays(scope: Scope) -> None:
    put_suite(scope)
    publish(scope, "Heat the water.")
    before = production(scope).version.id
    candidate = propose(scope, "Freeze the water.", proposer="someone")
    gate = open_gate(scope, candidate).gate
    run = work_off(scope, by_arm(base=0.85, candidate=0.0))
    view = candidates.get(scope, candidate.id)
    assert view.candidate.state == "rejected"
    assert production(scope).version.id == before
    assert run <= 2 * 7
    states = [trial.state for trial, _ in gates.get(scope, gate.id).trials]
    assert set(states) <= {"finished", "cancelled"}


def test_the_base_is_shown_on_the_base_arm_and_is_the_parent_of_what_is_published(scope: Scope) -> None:
    put_suite(scope)
    publish(scope, "Look at the water.")
    base = production(scope).version
    candidate = propose(scope, "Heat the water.", proposer="optimiser")
    assert open_gate(scope, candidate).gate.base_version_id == base.id
    shown = {one.trial.arm: one.documents[0].candidate_id or one.documents[0].version_id for one in lease(scope, limit=2)}
    assert shown == {"base": base.id, "candidate": candidate.id}
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE trial SET lease_expires_at = now() - interval '1 second' WHERE state = 'leased'"))
    work_off(scope, by_arm(base=0.1, candidate=0.95))
    parents = production(scope).parents
    assert [(parent.parent_id, parent.relation) for parent in parents] == [(base.id, "optimise")]


def test_each_locked_case_is_run_several_times_with_seeds_of_its_own(scope: Scope) -> None:
    put_suite(scope, slices=("boil", "safety"), dev=8)
    policy = {"locked_slices": ["safety"], "locked_runs": 2}
    gate = open_gate(scope, propose(scope), policy=policy).gate
    work_off(scope, lambda leased: float(leased.case.slice == "safety" or leased.trial.arm == "candidate"))
    view = gates.get(scope, gate.id)
    assert view.decision.verdict == "accepted"
    seeds: dict[str, set[int]] = {}
    for trial, case in view.trials:
        if case.slice == "safety":
            seeds.setdefault(case.key, set()).add(trial.seed)
    assert [len(runs) for runs in seeds.values()] == [2] * 8


def test_companions_are_shown_on_both_arms_and_recorded_as_exposures(scope: Scope) -> None:
    put_suite(scope)
    publish(scope, "Look at the water.")
    skill = production(scope).version
    rule = propose(scope, skill_name="look-first", kind="rule")
    gate = open_gate(scope, rule, companions=("boil",)).gate
    assert gate.companions == [skill.id]
    shown = {one.trial.arm: one for one in lease(scope, limit=2)}
    assert [one.version_id or one.candidate_id for one in shown["base"].documents] == [skill.id]
    assert [one.version_id or one.candidate_id for one in shown["candidate"].documents] == [rule.id, skill.id]
    episode = EpisodeInput(key="e1", environment="kitchen", task="Boil.", slice="boil", score=0.5, success=False)
    recorded = finish(scope, shown["candidate"], 0.5, episode=episode).trial.episode_id
    _, _, exposures = episodes.get(scope, recorded)
    assert [(one.rank, one.version_id, one.candidate_id) for one in exposures] == [(1, None, rule.id), (2, skill.id, None)]


def test_a_companion_must_be_another_published_skill(scope: Scope) -> None:
    put_suite(scope)
    candidate = propose(scope)
    for name in ("boil", "nothing"):
        with pytest.raises(Invalid, match="not another skill"):
            open_gate(scope, candidate, companions=(name,))


def test_a_decision_can_be_replayed_bit_for_bit_from_what_is_stored(scope: Scope) -> None:
    put_suite(scope)
    candidate = propose(scope)
    gate = open_gate(scope, candidate).gate
    work_off(scope, lambda leased: 0.7123 + leased.trial.pair / 100 if leased.trial.arm == "candidate" else 0.111)
    replay = gates.replay(scope, gate.id)
    assert replay.same
    assert (replay.verdict.state, replay.verdict.reason) == (replay.decision.verdict, replay.decision.reason)
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE trial SET score = score + 1e-15 WHERE pair = 1 AND arm = 'candidate'"))
    assert not gates.replay(scope, gate.id).same


def test_an_open_gate_and_one_of_another_procedure_have_nothing_to_replay(scope: Scope) -> None:
    put_suite(scope)
    gate = open_gate(scope, propose(scope)).gate
    with pytest.raises(Conflict, match="is open"):
        gates.replay(scope, gate.id)
    work_off(scope, lambda leased: float(leased.trial.arm == "candidate"))
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE gate SET plan = plan - 'rule'"))
    with pytest.raises(Conflict, match="decided by procedure 1"):
        gates.replay(scope, gate.id)


def test_a_gate_is_registered_before_any_trial(scope: Scope) -> None:
    put_suite(scope)
    view = open_gate(scope, propose(scope))
    assert len(view.gate.candidate_sha256) == len(view.gate.suite_sha256) == 64
    assert view.gate.stream_index == 1
    assert {trial.state for trial, _ in view.trials} == {"pending"}
    order = kinds(scope)
    assert order.index("gate.registered") == len(order) - 1


def test_only_a_few_pairs_are_under_way_at_a_time(scope: Scope) -> None:
    put_suite(scope)
    view = open_gate(scope, propose(scope), policy={"open_pairs": 2})
    assert [(trial.pair, trial.arm) for trial, _ in view.trials] == [
        (0, "base"), (0, "candidate"), (1, "base"), (1, "candidate"),
    ]  # fmt: skip


def test_both_trials_of_a_pair_have_the_same_case_and_seed(scope: Scope) -> None:
    put_suite(scope)
    by_pair: dict[int, set] = {}
    for trial, case in open_gate(scope, propose(scope)).trials:
        by_pair.setdefault(trial.pair, set()).add((trial.seed, case.id))
    assert all(len(same) == 1 for same in by_pair.values())
    assert len({case for same in by_pair.values() for _, case in same}) == len(by_pair)


def test_each_candidate_of_a_suite_gets_a_smaller_share_of_the_error_budget_unless_some_are_accepted(scope: Scope) -> None:
    put_suite(scope)
    put_suite(scope, name="other", dev=12)
    first = open_gate(scope, propose(scope)).gate
    second = open_gate(scope, propose(scope, "Stir the water.")).gate
    elsewhere = open_gate(scope, propose(scope, "Wait."), suite="other").gate
    assert (first.stream_index, second.stream_index, elsewhere.stream_index) == (1, 2, 1)
    assert second.alpha == pytest.approx(first.alpha / 4)
    work_off(scope, by_arm(base=0.0, candidate=1.0))
    third = open_gate(scope, propose(scope, "Boil it."), policy={"max_pairs": 40}).gate
    assert third.alpha == pytest.approx(first.alpha / 9 * 2)


def test_a_pair_that_finished_early_waits_for_those_before_it(scope: Scope) -> None:
    put_suite(scope)
    gate = open_gate(scope, propose(scope)).gate
    held, *rest = lease(scope, limit=8)
    assert (held.trial.pair, held.trial.arm) == (0, "base")
    for one in rest:
        finish(scope, one, 1.0 if one.trial.arm == "candidate" else 0.0)
    assert gates.get(scope, gate.id).verdict.numbers["pairs"] == []
    finish(scope, held, 0.0)
    assert len(gates.get(scope, gate.id).verdict.numbers["pairs"]) == 4


def test_cases_added_to_a_suite_later_do_not_enter_a_registered_gate(scope: Scope) -> None:
    put_suite(scope, dev=8)
    gate = open_gate(scope, propose(scope)).gate
    put_suite(scope, dev=30)
    work_off(scope, by_arm(base=0.3, candidate=0.6))
    view = gates.get(scope, gate.id)
    assert {case.key for _, case in view.trials} <= set(view.gate.plan["cases"]["boil"])
    assert view.decision.verdict == "undecided"


def test_a_candidate_is_gated_once(scope: Scope) -> None:
    put_suite(scope)
    candidate = propose(scope)
    open_gate(scope, candidate)
    with pytest.raises(Conflict):
        open_gate(scope, candidate)


def test_a_suite_too_small_for_a_perfect_candidate_is_refused_and_costs_no_budget(scope: Scope) -> None:
    put_suite(scope, dev=4)
    candidate = propose(scope)
    with pytest.raises(Invalid, match="too few cases"):
        open_gate(scope, candidate)
    assert candidates.get(scope, candidate.id).candidate.state == "proposed"
    put_suite(scope, dev=10)
    assert open_gate(scope, candidate).gate.stream_index == 1


def test_the_training_split_is_no_place_for_a_gate(scope: Scope) -> None:
    put_suite(scope)
    with pytest.raises(Invalid, match="train"):
        open_gate(scope, propose(scope), split="train")


def test_a_slice_without_cases_and_an_unknown_suite_are_refused(scope: Scope) -> None:
    put_suite(scope)
    candidate = propose(scope)
    with pytest.raises(Invalid, match="chill"):
        open_gate(scope, candidate, protected_slices=("chill",))
    with pytest.raises(NotFound):
        open_gate(scope, candidate, suite="nowhere")


def test_a_proof_against_an_earlier_base_publishes_nothing(scope: Scope) -> None:
    put_suite(scope)
    publish(scope, "Look at the water.")
    candidate = propose(scope)
    open_gate(scope, candidate)
    publish(scope, "Wait for the water.")
    moved = production(scope).version.id
    work_off(scope, by_arm(base=0.0, candidate=1.0))
    view = candidates.get(scope, candidate.id)
    assert view.candidate.state == "undecided"
    assert "production moved" in view.decision.reason
    assert production(scope).version.id == moved


def test_a_skill_retired_during_its_test_gets_no_new_version(scope: Scope) -> None:
    put_suite(scope)
    publish(scope, "Look at the water.")
    candidate = propose(scope)
    open_gate(scope, candidate)
    skills.retire(scope, name="boil", reason="no stove")
    work_off(scope, by_arm(base=0.0, candidate=1.0))
    assert candidates.get(scope, candidate.id).candidate.state == "undecided"


def test_the_published_version_keeps_the_files_of_the_version_it_was_drafted_on(scope: Scope) -> None:
    put_suite(scope)
    with scope.transaction() as unit:
        versions.publish_in(
            unit, name="boil", kind="skill", document=document("Look."), files=[("scripts/heat.py", 0o644, b"heat()")]
        )
    candidate = propose(scope, base=1)
    open_gate(scope, candidate)
    work_off(scope, by_arm(base=0.0, candidate=1.0))
    with scope.transaction() as unit:
        kept = versions.rows.files(unit.session, production(scope).version.id)
    assert [file.path for file in kept] == ["scripts/heat.py"]
    assert production(scope).version.content_sha256 == candidate.content_sha256


def test_a_protected_slice_is_drawn_too_and_must_be_certified(scope: Scope) -> None:
    put_suite(scope, dev=30, slices=("boil", "freeze"))
    candidate = propose(scope)
    gate = open_gate(scope, candidate, protected_slices=("boil", "freeze")).gate
    work_off(scope, lambda leased: 0.6 if leased.case.slice == "freeze" else float(leased.trial.arm == "candidate"))
    view = gates.get(scope, gate.id)
    assert view.decision.verdict == "accepted"
    assert [row["proven"] for row in view.decision.numbers["protect"]] == [True, True]
    assert view.decision.numbers["slices"]["freeze"]["pairs"] == 24


def test_a_candidate_identical_to_production_is_refused(scope: Scope) -> None:
    publish(scope, "Heat the water.")
    with pytest.raises(Conflict, match="identical"):
        propose(scope, "Heat the water.")


def test_operations_make_the_document_of_a_candidate(scope: Scope) -> None:
    publish(scope, "Heat the water.")
    edit = {"op": "add", "anchor": "steps", "after": "Heat the water.", "text": "Wait."}
    candidate = propose(scope, document=None, base=1, operations=(edit,))
    assert "Wait." in candidate.document
    assert candidate.base_version_id == production(scope).version.id


def test_the_log_of_a_decided_gate_is_whole(scope: Scope) -> None:
    put_suite(scope)
    open_gate(scope, propose(scope))
    work_off(scope, by_arm(base=0.0, candidate=1.0))
    with scope.transaction() as unit:
        assert chain.first_broken(unit.session, scope.workspace_id) is None


def test_slices_that_count_as_one_are_drawn_together_and_proven_by_one_proof(scope: Scope) -> None:
    put_suite(scope, dev=10, slices=("boil", "fry", "chill", "freeze"))
    groups = {"hot": ["boil", "fry"], "cold": ["chill", "freeze"]}
    opened = open_gate(
        scope, propose(scope), target_slice="hot", protected_slices=("cold",), policy={"groups": groups, "protect_hedge": 0.02}
    ).gate
    assert {name: len(keys) for name, keys in opened.plan["cases"].items()} == {"hot": 20, "cold": 20}
    hot = ("boil", "fry")
    work_off(scope, lambda leased: float(leased.trial.arm == "candidate") if leased.case.slice in hot else 0.6)
    decided = gates.get(scope, opened.id).decision
    assert decided.verdict == "accepted", decided.reason
    assert {row["slice"] for row in decided.numbers["pairs"]} == {"hot", "cold"}


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"hot": ["boil"], "warm": ["boil"]}, "stands in the groups twice"),
        ({"hot": []}, "not a list of slices"),
        ({"hot": "boil"}, "not a list of slices"),
        ([], "not an object"),
        ({"hot": ["boil", "none"]}, ""),
    ],
)
def test_groups_that_would_use_a_case_twice_are_refused(scope: Scope, groups: object, words: str) -> None:
    put_suite(scope, dev=30)
    facts = {"target_slice": "hot", "protected_slices": ("boil",), "policy": {"groups": groups}}
    with pytest.raises(Invalid, match=words or "would count under"):
        open_gate(scope, propose(scope), **facts)
