"""The numbers of the acceptance test: published values, least pairs, and error rates under the null."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from skillhub.errors import Invalid
from skillhub.gate import harm, improve, protect
from skillhub.gate.betting import Process
from skillhub.gate.budget import e_lond_alpha, gamma
from skillhub.gate.improve import sign_log_e
from skillhub.gate.policy import Policy

RUNS, LONGEST = 1500, 60
differences = st.floats(min_value=-1.0, max_value=1.0, allow_nan=False)


@pytest.mark.parametrize(("fixes", "breaks", "e"), [(6, 0, 18.1), (7, 0, 31.9), (8, 1, 11.3), (10, 1, 30.9)])
def test_the_sign_e_value_has_its_published_values(fixes: int, breaks: int, e: float) -> None:
    assert math.exp(sign_log_e(fixes, breaks)) == pytest.approx(e, abs=0.05)


def test_the_sign_e_value_of_thousands_of_pairs_is_finite() -> None:
    assert 0 < sign_log_e(6000, 3000) < math.inf
    assert sign_log_e(3000, 6000) < 0


@pytest.mark.parametrize("fixes_then_breaks", [(0, 0), (3, 2), (9, 1), (1, 9), (20, 20)])
def test_the_sign_e_value_does_not_grow_in_expectation_under_the_null(fixes_then_breaks: tuple[int, int]) -> None:
    b, c = fixes_then_breaks
    expected = 0.5 * math.exp(sign_log_e(b + 1, c)) + 0.5 * math.exp(sign_log_e(b, c + 1))
    assert expected <= math.exp(sign_log_e(b, c)) * (1 + 1e-9)


@pytest.mark.parametrize(("beta", "least"), [(0.05, 59), (0.10, 29)])
def test_pairs_without_any_difference_certify_at_the_least_number_possible(beta: float, least: int) -> None:
    process, pairs = protect.process(Policy(beta=beta, protect_hedge=0.02)), 0
    while process.log < math.log(20):
        process, pairs = process.after(0.0), pairs + 1
    assert pairs == least == protect.least_pairs(beta, 0.05)


@given(beta=st.floats(0.01, 0.4), alpha=st.floats(0.001, 0.2), hedge=st.floats(0.01, 0.9))
@settings(deadline=None, max_examples=100)
def test_no_policy_certifies_a_bound_in_fewer_pairs_without_difference_than_theory_allows(
    beta: float, alpha: float, hedge: float
) -> None:
    policy = Policy(beta=beta, protect_hedge=hedge, boldness=0.9999)
    too_few = protect.least_pairs(beta, alpha) - 1
    assert protect.process(policy).after(0.0, times=too_few).log < math.log(1 / alpha)


@given(st.lists(differences, max_size=60))
@settings(deadline=None, max_examples=200)
def test_wealth_is_never_lost_below_zero_or_infinite(ds: list[float]) -> None:
    policy = Policy()
    for process in (improve.betting(policy), protect.process(policy), harm.process(policy, margin=policy.beta)):
        for d in ds:
            process = process.after(d)
        assert math.isfinite(process.log)


@given(st.lists(st.tuples(differences, st.integers(1, 100)), min_size=1, max_size=8))
@settings(deadline=None, max_examples=200)
def test_a_fair_bet_gains_nothing_whatever_the_outcomes(outcomes: list[tuple[float, int]]) -> None:
    """E[wealth after one pair] <= wealth for every distribution with mean d <= 0, after any past."""
    past = improve.betting(Policy())
    for d, _ in outcomes:
        total = sum(weight for _, weight in outcomes)
        mean = sum(value * weight for value, weight in outcomes) / total
        centred = [(max(-1.0, min(1.0, value - max(0.0, mean))), weight / total) for value, weight in outcomes]
        if sum(value * share for value, share in centred) <= 0:
            after = sum(share * math.exp(past.after(value).log - past.log) for value, share in centred)
            assert after <= 1 + 1e-9
        past = past.after(d)


def graded_null(rng: random.Random) -> float:
    """Both arms draw from the same distribution of graded scores."""
    return rng.betavariate(0.6, 0.9) - rng.betavariate(0.6, 0.9)


def rare_gain_null(rng: random.Random) -> float:
    """Often a little worse, seldom much better: mean 0, the hardest shape for a test of the mean."""
    return 0.9 if rng.random() < 0.1 else -0.1


def binary_null(rng: random.Random) -> float:
    return rng.choice([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def crossings(start: Process, draw: Callable[[random.Random], float], *, bar: float, seed: int) -> int:
    """Runs, of RUNS, in which the process crosses the bar at any of LONGEST looks."""
    rng, crossed = random.Random(seed), 0
    for _ in range(RUNS):
        process = start
        for _ in range(LONGEST):
            process = process.after(draw(rng))
            if process.log >= bar:
                crossed += 1
                break
    return crossed


def most_allowed(alpha: float) -> int:
    """With a true rate of alpha, more crossings than this come in one of 10,000 test runs."""
    return int(binom.ppf(0.9999, RUNS, alpha))


@pytest.mark.parametrize(
    ("test", "draw"),
    [
        ("betting", graded_null),
        ("betting", rare_gain_null),
        ("betting", binary_null),
        ("sign", graded_null),
        ("sign", binary_null),
    ],
)
def test_a_change_that_does_nothing_is_called_an_improvement_at_most_at_rate_alpha(
    test: str, draw: Callable[[random.Random], float]
) -> None:
    crossed = crossings(improve.process(Policy(improve=test)), draw, bar=math.log(1 / 0.05), seed=11)
    print(f"{test} on {draw.__name__}: {crossed} of {RUNS} crossed at alpha 0.05")
    assert crossed <= most_allowed(0.05)


@pytest.mark.parametrize("beta", [0.05, 0.15])
@pytest.mark.parametrize("draw", [graded_null, binary_null])
def test_a_loss_of_beta_is_certified_as_harmless_at_most_at_rate_alpha(
    beta: float, draw: Callable[[random.Random], float]
) -> None:
    def damaged(rng: random.Random) -> float:
        return -1.0 if rng.random() < beta / (1.0 + 1e-9) else draw(rng) * (1.0 - beta)

    crossed = crossings(protect.process(Policy(beta=beta)), damaged, bar=math.log(1 / 0.05), seed=13)
    print(f"beta {beta} on {draw.__name__}: {crossed} of {RUNS} certified")
    assert crossed <= most_allowed(0.05)


def test_a_harmless_candidate_is_killed_at_most_at_rate_alpha() -> None:
    bar = harm.log_bar(Policy(), slices=1)
    crossed = crossings(harm.process(Policy(), margin=0.0), graded_null, bar=bar, seed=17)
    print(f"harm: {crossed} of {RUNS} killed")
    assert crossed <= most_allowed(0.05)


def test_the_shares_of_the_error_budget_sum_to_one() -> None:
    assert 0.999 < sum(gamma(k) for k in range(1, 5000)) < 1.0
    assert e_lond_alpha(0.05, k=1, accepted=0) == pytest.approx(0.0304, abs=1e-4)
    assert e_lond_alpha(0.05, k=2, accepted=1) == pytest.approx(2 * e_lond_alpha(0.05, k=2, accepted=0))


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"alpha": 0.9}, "/policy/alpha"),
        ({"alpha": float("nan")}, "/policy/alpha"),
        ({"beta": "0.1"}, "/policy/beta"),
        ({"max_pairs": 2.5}, "/policy/max_pairs"),
        ({"max_pairs": True}, "/policy/max_pairs"),
        ({"alpha": 10**400}, "/policy/alpha"),
        ({"improve": "mean"}, "/policy/improve"),
        ({"surprise": 1}, "/policy/surprise"),
    ],
)
def test_a_bad_constant_is_refused_by_name(values: dict, path: str) -> None:
    with pytest.raises(Invalid) as caught:
        Policy.of(values)
    assert caught.value.errors[0]["path"] == path


def test_a_policy_survives_storage() -> None:
    policy = Policy(beta=0.1, locked_slices=("safety",), max_pairs=12)
    assert Policy.of(policy.as_json()) == policy
