"""Paired scores in registered order -> verdict. The same pairs give the same verdict, bit for bit.

Pairs are looked at one by one and the first one that decides ends the test; what was run beyond it is ignored.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillhub.errors import Invalid
from skillhub.gate.policy import Policy
from skillhub.gate.proofs import open_proofs

RULE = 2
"""Number of this procedure. It rises when the same pairs and constants could get another verdict than before."""
__all__ = ["RULE", "Pair", "Policy", "Verdict", "check_score", "decide"]


@dataclass(frozen=True)
class Pair:
    """Scores in [0, 1] of one case under both arms, or None for a trial that is missing."""

    case_key: str
    slice: str
    base: float | None
    candidate: float | None
    trials: tuple[str, str] = ("", "")
    """Ids of the base's and the candidate's trial; an error names them."""

    def __post_init__(self) -> None:
        for trial_id, score in zip(self.trials, (self.base, self.candidate), strict=True):
            if score is not None:
                check_score(score, trial_id=trial_id or f"of case {self.case_key}")

    @property
    def d(self) -> float | None:
        """Candidate minus base; None where one is missing."""
        return None if self.base is None or self.candidate is None else self.candidate - self.base


@dataclass(frozen=True)
class Verdict:
    state: str
    """`open`, `accepted`, `rejected`, `undecided` or `error`."""
    reason: str
    """One plain sentence."""
    numbers: dict[str, Any]
    """Everything the rule computed, with the pairs it used; JSON values only."""
    wanted: tuple[str, ...] = ()
    """Slices of which more pairs are needed while the gate is open."""


def check_score(score: float, *, trial_id: str) -> None:
    """Invalid, naming the trial, unless the score is a number in [0, 1]."""
    if not (isinstance(score, int | float) and math.isfinite(score) and 0.0 <= score <= 1.0):
        raise Invalid(f"trial {trial_id}: score {score!r} is not in [0, 1]", path="/score")


def decide(
    policy: Policy,
    alpha: float,
    pairs: Sequence[Pair],
    *,
    target: str,
    protected: Sequence[str],
    budget: Mapping[str, int],
    broken: Sequence[str] = (),
) -> Verdict:
    """Run the rule over the pairs in their order.

    `alpha` is the level this candidate got from the suite's error budget. `budget` has for each slice the pairs it can
    give in all. `broken` names trials that could not be run in all their attempts; with one the verdict is `error`.
    """
    _check_slices(policy, target=target, protected=protected)
    _check_pairs(policy, pairs, budget)
    proofs = open_proofs(policy, alpha, target=target, protected=protected, budget=budget)
    used: list[Pair] = []
    state, reason = proofs.outcome()
    for pair in pairs:
        if state != "open":
            break
        proofs = proofs.after(pair.slice, pair.d)
        used.append(pair)
        state, reason = proofs.outcome()
    if state == "open" and broken:
        state, reason = "error", f"trial {broken[0]} could not be run; the evaluation is broken, not the candidate."
    numbers = {"alpha": alpha, **proofs.numbers(), "pairs": [_row(pair) for pair in used], "broken": list(broken)}
    return Verdict(state, reason, numbers, proofs.wanted() if state == "open" else ())


def _check_slices(policy: Policy, *, target: str, protected: Sequence[str]) -> None:
    """Locked cases are run several times, which is no evidence for a process that takes pairs for independent."""
    for name in policy.locked_slices:
        if name == target or name in protected:
            raise Invalid(f"slice {name!r} is locked, so it cannot be the target or protected too", path="/policy")


def _check_pairs(policy: Policy, pairs: Sequence[Pair], budget: Mapping[str, int]) -> None:
    """Trials of one case are correlated, so a case is one pair; a locked one is run as often as the policy says."""
    seen: Counter[str] = Counter()
    for pair in pairs:
        seen[pair.case_key] += 1
        if seen[pair.case_key] > (policy.locked_runs if pair.slice in policy.locked_slices else 1):
            raise Invalid(f"case {pair.case_key!r} was paired too often in one gate")
        if pair.slice not in budget:
            raise Invalid(f"case {pair.case_key!r} is of slice {pair.slice!r}, which this gate did not register")


def _row(pair: Pair) -> dict[str, Any]:
    return {"case": pair.case_key, "slice": pair.slice, "base": pair.base, "candidate": pair.candidate, "d": pair.d}
