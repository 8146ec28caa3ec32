"""Steps that tests of the gate share: a skill, a suite, a candidate, and a runner that scores what it is shown."""

from collections.abc import Callable

from skillhub.evaluation.cases import CaseInput
from skillhub.models import Candidate
from skillhub.services import candidates, gates, suites, trials
from skillhub.services.candidates import CandidateInput
from skillhub.services.gates import GateInput, GateView
from skillhub.services.scope import Scope
from skillhub.services.trials import LeasedTrial

LEASE = {"lease_seconds": 60, "max_attempts": 3}


def document(steps: str, *, name: str = "boil") -> str:
    return f"---\nname: {name}\ndescription: How to {name} things.\n---\n\n## Steps\n\n{steps}\n"


def put_suite(scope: Scope, *, name: str = "kitchen", dev: int = 16, slices: tuple[str, ...] = ("boil",)) -> None:
    cases = [
        CaseInput(key=f"{slice}-{split}-{i}", split=split, slice=slice, spec={"task": slice, "variation": [split, i]})
        for slice in slices
        for split, count in (("train", 3), ("dev", dev))
        for i in range(count)
    ]
    suites.put(scope, name=name, cases=cases)


def propose(scope: Scope, steps: str = "Heat the water.", **facts: object) -> Candidate:
    defaults = {"skill_name": "boil", "kind": "skill", "target_slice": "boil", "proposer": "extract"}
    name = facts.get("skill_name", "boil")
    item = CandidateInput(**(defaults | {"document": document(steps, name=name)} | facts))
    return candidates.propose(scope, item).candidate


def open_gate(scope: Scope, candidate: Candidate, **facts: object) -> GateView:
    return gates.open_gate(scope, GateInput(candidate_id=candidate.id, **({"suite": "kitchen"} | facts)))


def lease_one(scope: Scope, *, runner: str = "r1") -> LeasedTrial | None:
    return next(iter(lease(scope, runner=runner, limit=1)), None)


def lease(scope: Scope, *, runner: str = "r1", limit: int = 1, suite_names: list[str] | None = None) -> list[LeasedTrial]:
    return trials.lease(scope, runner=runner, limit=limit, suite_names=suite_names, **LEASE)


def finish(scope: Scope, leased: LeasedTrial, score: float, **more: object) -> trials.TrialView:
    return trials.finish(scope, leased.trial.id, lease_token=leased.trial.lease_token, score=score, **more)


def work_off(scope: Scope, play: Callable[[LeasedTrial], float], *, at_most: int = 400) -> int:
    """Run trials until none waits; returns how many were run."""
    for count in range(at_most):
        leased = lease_one(scope)
        if leased is None:
            return count
        finish(scope, leased, play(leased))
    raise AssertionError(f"still trials after {at_most}")


def by_arm(*, base: float, candidate: float) -> Callable[[LeasedTrial], float]:
    return lambda leased: candidate if leased.trial.arm == "candidate" else base
