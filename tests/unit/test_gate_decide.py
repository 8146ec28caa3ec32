"""What the rule decides, and when."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillhub.errors import Invalid
from skillhub.gate.budget import e_lond_alpha
from skillhub.gate.decide import Pair, Policy, Verdict, decide

ALPHA = e_lond_alpha(0.05, k=1, accepted=0)
scores = st.floats(0.0, 1.0, allow_nan=False)


def pairs_of(scored: Sequence[tuple[float | None, float | None]], *, slice: str = "boil") -> list[Pair]:
    return [Pair(f"{slice}-{i}", slice, base, candidate) for i, (base, candidate) in enumerate(scored)]


def decided(pairs: Sequence[Pair], *, policy: Policy | None = None, alpha: float = ALPHA, **more: object) -> Verdict:
    facts = {"target": "boil", "protected": ("boil",), "budget": {"boil": 40}} | more
    return decide(policy or Policy(), alpha, pairs, **facts)


def used(verdict: Verdict) -> int:
    return len(verdict.numbers["pairs"])


@pytest.mark.parametrize(("gain", "least", "most"), [(0.6, 8, 12), (0.9, 6, 8)])
def test_a_clear_gain_is_accepted_in_few_pairs(gain: float, least: int, most: int) -> None:
    verdict = decided(pairs_of([(0.05, 0.05 + gain)] * 40))
    assert verdict.state == "accepted"
    assert least <= used(verdict) <= most
    assert "improves" in verdict.reason


def test_a_clear_loss_is_rejected_in_few_pairs() -> None:
    verdict = decided(pairs_of([(0.8, 0.0)] * 40))
    assert verdict.state == "rejected"
    assert used(verdict) <= 6


def test_a_noisy_gain_is_accepted_within_the_budget_nearly_always() -> None:
    accepted = 0
    for seed in range(100):
        rng = random.Random(seed)
        scored = [(rng.betavariate(1, 6), rng.betavariate(6, 2)) for _ in range(40)]
        accepted += decided(pairs_of(scored)).state == "accepted"
    print(f"{accepted} of 100 accepted")
    assert accepted >= 98


def test_no_difference_at_all_is_undecided_after_few_pairs() -> None:
    verdict = decided(pairs_of([(0.5, 0.5)] * 40))
    assert verdict.state == "undecided"
    assert used(verdict) <= 12
    assert "no difference" in verdict.reason


def test_a_used_up_budget_is_undecided_never_rejected() -> None:
    scored = [(0.5, 0.9), (0.9, 0.5)] * 6
    verdict = decided(pairs_of(scored), budget={"boil": 12})
    assert verdict.state == "undecided"


def test_too_few_cases_for_even_a_perfect_candidate_is_undecided_before_the_first_pair() -> None:
    verdict = decided([], budget={"boil": 4})
    assert (verdict.state, used(verdict)) == ("undecided", 0)


def test_an_open_gate_names_the_slices_it_needs() -> None:
    verdict = decided(pairs_of([(0.1, 0.8)] * 3))
    assert (verdict.state, verdict.wanted) == ("open", ("boil",))


def test_what_does_not_help_is_given_up_after_few_pairs_though_outcomes_vary() -> None:
    pairs = []
    for seed in range(200):
        rng = random.Random(seed)
        scored = [(float(rng.random() < 0.2), float(rng.random() < 0.2)) for _ in range(40)]
        pairs.append(used(decided(pairs_of(scored))))
    print(f"{sum(pairs) / len(pairs):.1f} pairs on the mean")
    assert sum(pairs) / len(pairs) < 16


def test_a_gain_is_not_accepted_while_a_protected_slice_is_not_certified() -> None:
    gain = pairs_of([(0.0, 1.0)] * 12)
    facts = {"protected": ("boil", "freeze"), "budget": {"boil": 40, "freeze": 40}}
    waiting = decided(gain, **facts)
    assert (waiting.state, waiting.wanted) == ("open", ("freeze",))
    certified = decided([*gain, *pairs_of([(0.7, 0.7)] * 25, slice="freeze")], **facts)
    assert certified.state == "accepted"


def test_a_gain_that_damages_a_protected_slice_is_rejected() -> None:
    mixed = [*pairs_of([(0.0, 1.0)] * 12), *pairs_of([(1.0, 0.1)] * 20, slice="freeze")]
    verdict = decided(mixed, protected=("freeze",), budget={"boil": 40, "freeze": 40})
    assert verdict.state == "rejected"
    assert "freeze" in verdict.reason


def test_one_break_of_a_locked_case_rejects_whatever_else_is_gained() -> None:
    policy = Policy(locked_slices=("safety",))
    mixed = [*pairs_of([(0.0, 1.0)] * 12), *pairs_of([(1.0, 1.0), (1.0, 0.99)], slice="safety")]
    verdict = decided(mixed, policy=policy, budget={"boil": 40, "safety": 2})
    assert verdict.state == "rejected"
    assert "safety" in verdict.reason


def test_a_locked_case_that_breaks_in_its_last_rerun_rejects() -> None:
    policy = Policy(locked_slices=("safety",), locked_runs=3)
    case = pairs_of([(1.0, 1.0)], slice="safety")
    broken = [replace(case[0], candidate=0.9)]
    facts = {"policy": policy, "budget": {"boil": 40, "safety": 3}}
    gain = pairs_of([(0.0, 1.0)] * 12)
    assert decided([*gain, *case * 2, *broken], **facts).state == "rejected"
    assert decided([*gain, *case * 3], **facts).state == "accepted"
    with pytest.raises(Invalid, match="too often"):
        decided([*case * 4], **facts)


@pytest.mark.parametrize("protected", [("boil",), ("freeze", "boil")])
def test_a_slice_run_repeatedly_cannot_also_be_evidence(protected: tuple[str, ...]) -> None:
    with pytest.raises(Invalid, match="locked"):
        decided([], policy=Policy(locked_slices=("boil",)), protected=protected, budget={"boil": 4, "freeze": 4})


def test_nothing_is_accepted_before_all_locked_cases_were_run() -> None:
    policy = Policy(locked_slices=("safety",))
    mixed = [*pairs_of([(0.0, 1.0)] * 12), *pairs_of([(1.0, 1.0)], slice="safety")]
    budget = {"boil": 40, "safety": 2}
    assert decided(mixed, policy=policy, budget=budget).state == "open"
    assert decided(mixed, policy=policy, budget=budget).wanted == ("safety",)
    mixed.append(Pair("safety-1", "safety", 1.0, 1.0))
    assert decided(mixed, policy=policy, budget=budget).state == "accepted"


def test_a_missing_trial_counts_as_a_break_where_a_bound_is_at_stake() -> None:
    whole = pairs_of([(0.1, 0.8)] * 6)
    with_hole = [*whole[:5], Pair("boil-hole", "boil", 0.1, None)]
    broken = [*whole[:5], Pair("boil-hole", "boil", 1.0, 0.0)]
    hole, break_ = decided(with_hole).numbers, decided(broken).numbers
    assert hole["protect"] == break_["protect"]
    assert hole["improve"] == break_["improve"]
    assert hole["slices"]["boil"]["missing"] == 1


def test_missing_trials_never_show_harm() -> None:
    verdict = decided([Pair(f"boil-{i}", "boil", 1.0, None) for i in range(7)])
    assert verdict.state in ("open", "undecided")
    assert all(proof["e"] < 1.0 for proof in verdict.numbers["harm"])


def test_a_trial_that_cannot_be_run_is_an_error_and_is_named() -> None:
    verdict = decided(pairs_of([(0.1, 0.8)] * 3), broken=["trl_broken"])
    assert verdict.state == "error"
    assert "trl_broken" in verdict.reason


@pytest.mark.parametrize("score", [1.5, -0.01, float("nan"), float("inf")])
def test_a_score_outside_zero_and_one_is_refused_with_its_trial(score: float) -> None:
    with pytest.raises(Invalid, match="trl_7"):
        Pair("boil-1", "boil", 0.5, score, trials=("trl_6", "trl_7"))


def test_a_case_counts_once() -> None:
    with pytest.raises(Invalid, match="too often"):
        decided([Pair("boil-1", "boil", 0.0, 1.0)] * 2)


def test_a_case_of_a_slice_that_was_not_registered_is_refused() -> None:
    with pytest.raises(Invalid, match="did not register"):
        decided(pairs_of([(0.0, 1.0)], slice="chill"))


@given(st.lists(st.tuples(scores, scores), max_size=40))
@settings(deadline=None, max_examples=150)
def test_the_same_pairs_give_the_same_verdict_and_pairs_beyond_the_decision_change_nothing(scored: list) -> None:
    pairs = pairs_of(scored)
    verdict = decided(pairs)
    assert decided(pairs) == verdict
    if verdict.state != "open":
        assert decided(pairs[: used(verdict)]) == verdict


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40), st.integers(0, 39), scores)
@settings(deadline=None, max_examples=150)
def test_a_better_candidate_is_never_judged_worse(scored: list, at: int, higher: float) -> None:
    """Raising one score of the candidate cannot turn an acceptance into a rejection."""
    at %= len(scored)
    better = [*scored]
    better[at] = (scored[at][0], max(scored[at][1], higher))
    policy = Policy(futility_pairs=41)
    if decided(pairs_of(scored), policy=policy).state == "accepted":
        assert decided(pairs_of(better), policy=policy).state != "rejected"


def test_the_whole_rule_accepts_a_change_that_does_nothing_far_less_than_alpha() -> None:
    accepted, runs = 0, 400
    for seed in range(runs):
        rng = random.Random(seed)
        scored = [(float(rng.random() < 0.55), float(rng.random() < 0.55)) for _ in range(40)]
        accepted += decided(pairs_of(scored), alpha=0.05).state == "accepted"
    print(f"{accepted} of {runs} accepted at alpha 0.05")
    assert accepted <= runs * 0.05


@pytest.mark.parametrize("improve", ["betting", "sign"])
def test_twenty_candidates_that_do_nothing_share_one_error_budget(improve: str) -> None:
    """P(any of 20 accepted) stays below alpha, up to the noise of 150 streams (binomial, one in 10,000)."""
    any_accepted, streams = 0, 150
    for seed in range(streams):
        rng, accepted = random.Random(1000 + seed), 0
        for k in range(1, 21):
            scored = [(float(rng.random() < 0.3), float(rng.random() < 0.3)) for _ in range(24)]
            alpha = e_lond_alpha(0.05, k=k, accepted=accepted)
            policy = Policy(improve=improve)
            accepted += decided(pairs_of(scored), alpha=alpha, policy=policy, budget={"boil": 24}).state == "accepted"
        any_accepted += accepted > 0
    print(f"{improve}: a candidate was accepted in {any_accepted} of {streams} streams of 20")
    assert any_accepted <= 19


def test_no_more_pairs_are_used_than_the_test_may_take_in_all() -> None:
    verdict = decided(pairs_of([(0.0, 1.0)] * 9), policy=Policy(most_pairs=4))
    assert (verdict.state, len(verdict.numbers["pairs"])) == ("undecided", 4)
    assert "all 4 pairs that the test may take are used" in verdict.reason
