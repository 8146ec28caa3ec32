"""The acceptance test of a candidate: registered before its first trial, moved by finished pairs, decided once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from skillhub import tracing
from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.evaluation.cases import next_case, pair_seed, shuffled
from skillhub.gate.budget import e_lond_alpha
from skillhub.gate.decide import RULE, Pair, Policy, Verdict, decide
from skillhub.ids import new_id
from skillhub.models import Candidate, Case, Decision, Gate, Suite, Trial, Version
from skillhub.models.base import now
from skillhub.services import suites as suites_of
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.versions import publish_in
from skillhub.store import candidates, gates, optimisations, skills, suites, trials, versions
from skillhub.store.keyset import Start

ARMS = ("base", "candidate")
NEWEST = Start("-created_at")
BY_PAIR = Start("pair")
OPTIMISATION_JOB = "optimisation.advance"
"""What goes on with a search whose commit was decided."""
GATED_SPLITS = ("dev", "test", "confirm")
"""Never `train`: candidates are drawn from its episodes."""


@dataclass(frozen=True, kw_only=True)
class GateInput:
    """What is registered."""

    candidate_id: str
    suite: str
    split: str = "dev"
    target_slice: str | None = None
    """None: the slice that the candidate declared."""
    protected_slices: tuple[str, ...] | None = None
    """None: the target slice."""
    companions: tuple[str, ...] = ()
    """Skills whose `production` version both arms show as well: a rule is tested beside the skills it will be read with."""
    policy: Mapping[str, Any] | None = None
    """Constants that differ from the defaults of `Policy`."""


@dataclass(frozen=True)
class GateView:
    """A gate with its trials; the verdict is the decision's where there is one, else how things stand."""

    gate: Gate
    trials: Sequence[tuple[Trial, Case]]
    verdict: Verdict
    decision: Decision | None


@dataclass(frozen=True)
class Replay:
    """A decision, and what the rule says of its trials now."""

    decision: Decision
    verdict: Verdict

    @property
    def same(self) -> bool:
        """Whether every number is the same, bit for bit; an acceptance may have come too late to be published."""
        states = (self.decision.verdict, "accepted" if self.decision.verdict == "undecided" else self.decision.verdict)
        return self.decision.numbers == self.verdict.numbers and self.verdict.state in states


def open_gate(scope: Scope, item: GateInput) -> GateView:
    """Register the test of a candidate and make its first trials.

    Errors: NotFound; Conflict where the candidate was gated before or its skill is retired; Invalid for a bad policy, a
    slice without cases, or so few of them that even a perfect candidate could not be accepted.
    """
    with scope.transaction() as unit:
        return _view(unit, open_in(unit, item))


def open_in(unit: Unit, item: GateInput) -> Gate:
    """The same inside a running transaction."""
    suite = suites.lock(unit.session, workspace_id=unit.workspace_id, name=item.suite)
    if suite is None:
        raise NotFound(f"there is no suite {item.suite!r}")
    candidate = _free_candidate_in(unit, item.candidate_id)
    gate = _registration(unit, item, suite=suite, candidate=candidate)
    gates.insert(unit.session, gate)
    candidate.state = "gated"
    unit.session.add(candidate)
    unit.record(
        "gate.registered", gate.id, candidate_id=candidate.id, suite=suite.name, split=item.split,
        stream_index=gate.stream_index, alpha=gate.alpha, base_sha256=gate.base_sha256,
        candidate_sha256=gate.candidate_sha256, suite_sha256=gate.suite_sha256,
    )  # fmt: skip
    advance_in(unit, gate)
    return gate


def get(scope: Scope, gate_id: str) -> GateView:
    with scope.transaction() as unit:
        return _view(unit, get_in(unit, gate_id))


def replay(scope: Scope, gate_id: str) -> Replay:
    """Decide once more from the stored trials. Errors: NotFound; Conflict for an open gate, and for one decided by another
    procedure than this release has."""
    with scope.transaction() as unit:
        gate = get_in(unit, gate_id)
        decision = gates.decision(unit.session, gate.id)
        if decision is None:
            raise Conflict("the gate is open: there is no decision to replay")
        if (rule := gate.plan.get("rule", 1)) != RULE:
            raise Conflict(f"this was decided by procedure {rule}, and this release has {RULE}")
        run = trials.of_gate(unit.session, gate.id)
        cases = suites.cases_by_id(unit.session, {trial.case_id for trial in run})
        return Replay(decision, _verdict(gate, complete_pairs(gate, run, cases), run))


def page(scope: Scope, start: Start = NEWEST, *, suite: str | None = None, **filters: Any) -> list[Gate]:
    """Gates by `suite` (its name), `state`, `candidate_id`, `created_after`, `created_before`; NotFound for no such suite."""
    with scope.transaction() as unit:
        suite_id = None if suite is None else suites_of.get_in(unit, suite).id
        return gates.page(unit.session, workspace_id=unit.workspace_id, start=start, suite_id=suite_id, **filters)


def trial_page(scope: Scope, start: Start = BY_PAIR, *, gate_id: str, **filters: Any) -> list[tuple[Trial, Case]]:
    """Trials of a gate with their cases, by `state` and `arm`."""
    with scope.transaction() as unit:
        found = trials.page(unit.session, get_in(unit, gate_id).id, start=start, **filters)
        cases = suites.cases_by_id(unit.session, {trial.case_id for trial in found})
        return [(trial, cases[trial.case_id]) for trial in found]


def decision_page(scope: Scope, start: Start = NEWEST, **filters: Any) -> Sequence[Decision]:
    """Decisions by `verdict`, `candidate_id`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return gates.decision_page(unit.session, workspace_id=unit.workspace_id, start=start, **filters)


def get_in(unit: Unit, gate_id: str) -> Gate:
    """The gate with that id, else NotFound."""
    gate = gates.get(unit.session, gate_id)
    if gate is None:
        raise NotFound(f"there is no gate {gate_id!r}")
    return gate


def advance_in(unit: Unit, gate: Gate) -> None:
    """Look at the pairs of an open gate and decide it, or make the next trials. The caller holds the gate's row lock."""
    run = trials.of_gate(unit.session, gate.id)
    cases = suites.cases_by_id(unit.session, {trial.case_id for trial in run})
    pairs = complete_pairs(gate, run, cases)
    verdict = _verdict(gate, pairs, run)
    if verdict.state == "open":
        _make_trials(unit, gate, used=[cases[trial.case_id].key for trial in run[::2]], done=len(pairs), verdict=verdict)
    else:
        _decide_in(unit, gate, verdict)


def complete_pairs(gate: Gate, run: Sequence[Trial], cases: Mapping[str, Case]) -> list[Pair]:
    """The finished pairs in registered order, up to the first unfinished one.

    A pair that finished early waits for those before it: otherwise quick runs would be looked at first, and speed may go
    with failure.
    """
    names = {key: name for name, keys in gate.plan["cases"].items() for key in keys}
    pairs: list[Pair] = []
    for _, both in groupby(run, key=lambda trial: trial.pair):
        base, candidate = both
        if base.state != "finished" or candidate.state != "finished":
            break
        case = cases[base.case_id]
        pairs.append(Pair(case.key, names[case.key], base.score, candidate.score, trials=(base.id, candidate.id)))
    return pairs


def _free_candidate_in(unit: Unit, candidate_id: str) -> Candidate:
    candidate = candidates.lock(unit.session, candidate_id)
    if candidate is None:
        raise NotFound(f"there is no candidate {candidate_id!r}")
    if candidate.state != "proposed":
        raise Conflict(f"the candidate is {candidate.state}; each is put through a gate once")
    skill = skills.named(unit.session, workspace_id=unit.workspace_id, name=candidate.skill_name)
    if skill is not None and skill.state == "retired":
        raise Conflict(f"the skill {skill.name!r} is retired")
    return candidate


def _registration(unit: Unit, item: GateInput, *, suite: Suite, candidate: Candidate) -> Gate:
    policy = Policy.of(item.policy or {})
    target = item.target_slice or candidate.target_slice
    stream = gates.stream(unit.session, suite.id)
    base = _production_in(unit, candidate.skill_name)
    gate = Gate(
        id=new_id("gat"),
        workspace_id=unit.workspace_id,
        candidate_id=candidate.id,
        suite_id=suite.id,
        target_slice=target,
        protected_slices=list(dict.fromkeys(item.protected_slices or (target,))),
        base_version_id=base.id if base else None,
        base_sha256=base.content_sha256 if base else "",
        companions=[_companion_in(unit, name, beside=candidate.skill_name) for name in item.companions],
        candidate_sha256=candidate.content_sha256,
        suite_sha256=suite.content_sha256,
        stream_index=stream.gates + 1,
        alpha=e_lond_alpha(policy.alpha, k=stream.gates + 1, accepted=stream.accepted),
        policy=policy.as_json(),
    )
    gate.plan = _plan(unit, gate, policy=policy, split=item.split)
    if (outlook := _verdict(gate, (), ())).state != "open":
        raise Invalid(f"suite {suite.name!r} has too few cases: {outlook.reason}", path="/suite")
    return gate


def _companion_in(unit: Unit, name: str, *, beside: str) -> str:
    version = _production_in(unit, name)
    if version is None or name == beside:
        raise Invalid(f"{name!r} is not another skill with a version in {PRODUCTION}", path="/companions")
    return version.id


def _plan(unit: Unit, gate: Gate, *, policy: Policy, split: str) -> dict[str, Any]:
    """The cases that the gate may draw, each slice in an order of its own."""
    if split not in GATED_SPLITS:
        raise Invalid(f"{split!r} is not one of {', '.join(GATED_SPLITS)}", path="/split")
    names = dict.fromkeys([gate.target_slice, *gate.protected_slices, *policy.locked_slices])
    slices = _disjoint(policy, names)
    found = suites.cases(unit.session, gate.suite_id, split=split, slices=slices)
    plan: dict[str, list[str]] = {}
    for name in names:
        keys = shuffled([case.key for case in found if slices[case.slice] == name], seed=gate.id)
        if not keys:
            raise Invalid(f"the suite has no case of slice {name!r} in split {split!r}", path="/suite")
        most = policy.protect_pairs if name in gate.protected_slices else policy.max_pairs
        plan[name] = keys * policy.locked_runs if name in policy.locked_slices else keys[:most]
    return {"split": split, "cases": plan, "rule": RULE}


def _disjoint(policy: Policy, names: Iterable[str]) -> dict[str, str]:
    """Slice -> the name that it counts under; Invalid for one that would count under two, as its cases would be used twice."""
    found: dict[str, str] = {}
    for name in names:
        for member in policy.members(name):
            if found.setdefault(member, name) != name:
                raise Invalid(f"slice {member!r} would count under {found[member]!r} and {name!r}", path="/policy/groups")
    return found


def _verdict(gate: Gate, pairs: Sequence[Pair], run: Sequence[Trial]) -> Verdict:
    return decide(
        Policy.of(gate.policy),
        gate.alpha,
        pairs,
        target=gate.target_slice,
        protected=gate.protected_slices,
        budget={name: len(keys) for name, keys in gate.plan["cases"].items()},
        broken=[trial.id for trial in run if trial.state == "failed"],
    )


def _make_trials(unit: Unit, gate: Gate, *, used: list[str], done: int, verdict: Verdict) -> None:
    """Keep a few pairs under way: enough to be busy, few enough that a decision leaves little behind."""
    policy = Policy.of(gate.policy)
    ids = {case.key: case.id for case in suites.cases(unit.session, gate.suite_id, split=gate.plan["split"])}
    new: list[Trial] = []
    while len(used) < min(done + policy.open_pairs, policy.most_pairs):
        drawn = next_case(gate.plan["cases"], used=used, wanted=verdict.wanted)
        if drawn is None:
            break
        _, key = drawn
        common = {"workspace_id": unit.workspace_id, "gate_id": gate.id, "case_id": ids[key], "pair": len(used)}
        seed = pair_seed(gate.id, key, rerun=used.count(key))
        new += [Trial(id=new_id("trl"), arm=arm, seed=seed, **common) for arm in ARMS]
        used = [*used, key]
    trials.insert(unit.session, new)


def _decide_in(unit: Unit, gate: Gate, verdict: Verdict) -> None:
    """Write the decision, publish the accepted version, and take back what is no longer needed."""
    candidate = candidates.get(unit.session, gate.candidate_id)
    with tracing.continued("gate.decide", candidate.traceparent, **{"skillhub.candidate_id": candidate.id}) as span:
        decision = _decision_in(unit, gate, candidate, verdict)
        span.set_attribute("skillhub.verdict", decision.verdict)


def _decision_in(unit: Unit, gate: Gate, candidate: Candidate, verdict: Verdict) -> Decision:
    state, reason = _still_holds(unit, gate, candidate, verdict)
    version = _publish_in(unit, gate, candidate, reason) if state == "accepted" else None
    decision = Decision(
        id=new_id("dec"), workspace_id=unit.workspace_id, gate_id=gate.id, candidate_id=candidate.id, verdict=state,
        reason=reason, numbers=verdict.numbers, version_id=version.id if version else None,
    )  # fmt: skip
    gates.insert_decision(unit.session, decision)
    gate.state, candidate.state, candidate.decided_at = "decided", state, now()
    unit.session.add_all([gate, candidate])
    trials.cancel_pending(unit.session, gate.id)
    unit.record(
        "gate.decided", gate.id, candidate_id=candidate.id, decision_id=decision.id, verdict=state, reason=reason,
        version_id=decision.version_id,
    )  # fmt: skip
    if step := optimisations.of_candidate(unit.session, candidate.id):
        unit.enqueue(OPTIMISATION_JOB, optimisation_id=step.optimisation_id)
    return decision


def _still_holds(unit: Unit, gate: Gate, candidate: Candidate, verdict: Verdict) -> tuple[str, str]:
    """Verdict and reason; an acceptance holds only against the base that it was proven against."""
    if verdict.state != "accepted":
        return verdict.state, verdict.reason
    skill = skills.named(unit.session, workspace_id=unit.workspace_id, name=candidate.skill_name)
    if skill is not None and skill.state == "retired":
        return "undecided", f"the skill was retired during the test; {verdict.reason}"
    base = _production_in(unit, candidate.skill_name)
    if (base.id if base else None) != gate.base_version_id:
        return "undecided", f"{PRODUCTION} moved during the test, and the proof is against the earlier base; {verdict.reason}"
    return verdict.state, verdict.reason


def _publish_in(unit: Unit, gate: Gate, candidate: Candidate, reason: str) -> Version:
    relation = "extract" if candidate.proposer.startswith("extract") else "optimise"
    drafted_on = candidate.base_version_id
    return publish_in(
        unit,
        name=candidate.skill_name,
        kind=candidate.kind,
        document=candidate.document,
        files=versions.files(unit.session, drafted_on) if drafted_on else (),
        parents=[(gate.base_version_id, relation)] if gate.base_version_id else (),
        message=f"Accepted by gate {gate.id}: {reason}",
        candidate_id=candidate.id,
        label=PRODUCTION,
    )


def _production_in(unit: Unit, skill_name: str) -> Version | None:
    return versions.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=skill_name, label=PRODUCTION)


def _view(unit: Unit, gate: Gate) -> GateView:
    run = trials.of_gate(unit.session, gate.id)
    cases = suites.cases_by_id(unit.session, {trial.case_id for trial in run})
    decision = gates.decision(unit.session, gate.id)
    if decision is None:
        verdict = _verdict(gate, complete_pairs(gate, run, cases), run)
    else:
        verdict = Verdict(decision.verdict, decision.reason, decision.numbers)
    return GateView(gate, [(trial, cases[trial.case_id]) for trial in run], verdict, decision)
