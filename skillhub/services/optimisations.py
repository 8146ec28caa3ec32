"""Optimising a skill: a search that is driven by its journal, screening trials that are leased like any others, and the gate.

The search is a generator (`skillhub.optimise`). Each ask is a step in the journal; it is answered when its trials are
over, when proposals came, or when its gate decided. Then a job plays the search again from the journal up to the next ask
that has no answer yet. A worker that dies loses nothing, and no trial is paid twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skillhub import documents
from skillhub.errors import Conflict, Invalid, NotFound, SkillhubError
from skillhub.evaluation.cases import pair_seed
from skillhub.hashing import sha256_bytes
from skillhub.ids import new_id
from skillhub.models import Optimisation, OptimisationDraft, OptimisationStep, ScreeningTrial, Skill, Suite, Version
from skillhub.models.base import now
from skillhub.optimise.asks import Answer, Ask, Commit, Probe, Proposal, Propose, Ruling
from skillhub.optimise.boost import boost
from skillhub.optimise.policy import SearchPolicy
from skillhub.safety import publication
from skillhub.services import candidates, gates, labels, skills
from skillhub.services.candidates import CandidateInput
from skillhub.services.gates import OPTIMISATION_JOB, GateInput
from skillhub.services.jobs import Claim
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.screening import PREFIX
from skillhub.services.suites import get_in as suite_in
from skillhub.store import optimisations as rows
from skillhub.store import suites, trials, versions
from skillhub.store.keyset import Start

NEWEST, IN_ORDER = Start("-created_at"), Start("position")
SCREENED = "train"
"""The split whose cases are screened; the gate draws from `dev`."""
TARGET, STRONG = "target", "strong"
"""Names under which the gate of a commit counts the slices."""


@dataclass(frozen=True)
class OptimisationView:
    """A search with the names a reader knows it by."""

    optimisation: Optimisation
    skill: Skill
    suite: Suite
    base: Version
    waits_for: str | None
    """`probe`, `propose` or `commit`; None where it is over."""


def start(
    scope: Scope, *, skill: str, suite: str, budget: int, proposer: str, seed: int = 0,
    policy: Mapping[str, Any] | None = None, gate_policy: Mapping[str, Any] | None = None,
) -> OptimisationView:  # fmt: skip
    """Begin a search from what is in production. Errors: NotFound; Conflict on a retired skill; Invalid, also for a budget that
    pays for nothing and a suite without cases to screen."""
    constants = SearchPolicy.of(policy or {})
    with scope.transaction() as unit:
        owner = skills.lock_in(unit, skill)
        _, base = labels.get_in(unit, owner, PRODUCTION)
        found = suite_in(unit, suite)
        cases = _screened_in(unit, found)
        if budget < (least := constants.least_budget(len(cases))):
            raise Invalid(f"a budget of {budget} trials is too small: {len(cases)} slices need {least}", path="/budget")
        search = Optimisation(
            id=new_id("opt"), workspace_id=unit.workspace_id, skill_id=owner.id, suite_id=found.id, base_version_id=base.id,
            start_document=base.document, cases=cases, proposer=proposer, budget=budget, seed=seed,
            policy=asdict(constants), gate_policy=dict(gate_policy or {}), created_by=scope.actor,
        )  # fmt: skip
        unit.session.add(search)
        unit.session.flush()
        unit.record("optimisation.started", search.id, skill=owner.name, suite=found.name, budget=budget)
        unit.enqueue(OPTIMISATION_JOB, optimisation_id=search.id)
        return _view_in(unit, search)


def get(scope: Scope, optimisation_id: str) -> OptimisationView:
    with scope.transaction() as unit:
        return _view_in(unit, _get_in(unit, optimisation_id))


def page(scope: Scope, start: Start = NEWEST, **filters: Any) -> list[OptimisationView]:
    """Searches by `state`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        found = rows.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters)
        return _views_in(unit, found)


def steps(scope: Scope, start: Start = IN_ORDER, *, optimisation_id: str, **filters: Any) -> Sequence[OptimisationStep]:
    """The journal of a search, by `kind`."""
    with scope.transaction() as unit:
        return rows.step_page(unit.session, _get_in(unit, optimisation_id).id, start=start, **filters)


def asked(scope: Scope, optimisation_id: str) -> Propose:
    """What the search asks to be proposed. Errors: NotFound; Conflict where it waits for something else."""
    with scope.transaction() as unit:
        step = _asking_in(unit, _get_in(unit, optimisation_id))
        return _Journal(unit, optimisation_id).ask(step)


def answer(scope: Scope, optimisation_id: str, proposals: Sequence[Proposal]) -> OptimisationView:
    """Proposals for what the search asks for; none ends it.

    Errors: NotFound; Conflict where it does not ask now; Invalid, with its place, for one that does not fit the document, makes
    it one that could not be published, or targets a slice that is not searched.
    """
    with scope.transaction() as unit:
        search = _locked_in(unit, optimisation_id)
        step = _asking_in(unit, search)
        document = _Journal(unit, search.id).ask(step).document
        for index, proposal in enumerate(proposals):
            _check_proposal(search, document, proposal, place=f"/proposals/{index}")
        _settle(unit, step, [asdict(proposal) for proposal in proposals])
        unit.enqueue(OPTIMISATION_JOB, optimisation_id=search.id)
        return _view_in(unit, search)


def cancel(scope: Scope, optimisation_id: str) -> OptimisationView:
    """End a search; what it committed stays. Cancelling one that is over changes nothing."""
    with scope.transaction() as unit:
        search = _locked_in(unit, optimisation_id)
        if search.state == "running":
            _end_in(unit, search, "cancelled", "cancelled by a person")
        return _view_in(unit, search)


def advance(claim: Claim) -> None:
    """The job: play the search from its journal, up to the next ask that waits."""
    with claim.effect() as unit:
        search = _locked_in(unit, claim.payload["optimisation_id"])
        if search.state == "running":
            try:
                _advance_in(unit, search)
            except SkillhubError as error:
                _end_in(unit, search, "failed", str(error))
        claim.result["state"] = search.state


def _advance_in(unit: Unit, search: Optimisation) -> None:
    journal = _Journal(unit, search.id)
    constants = SearchPolicy.of(search.policy)
    running = boost(search.start_document, search.cases, budget=search.budget, policy=constants, seed=search.seed)
    ask, position = next(running), 0
    try:
        while (found := _answered_in(unit, search, journal, position, ask)) is not None:
            ask, position = running.send(found), position + 1
    except StopIteration:
        _end_in(unit, search, "finished", "nothing more is worth a trial")


def _answered_in(unit: Unit, search: Optimisation, journal: "_Journal", position: int, ask: Ask) -> Answer | None:
    """The answer of a step, which is made where it is new; None where it has to be waited for."""
    step = journal.steps.get(position) or _made_in(unit, search, journal, position, ask)
    if step.answer is None and (found := _outcome_in(unit, step)) is not None:
        _settle(unit, step, found)
    return None if step.answer is None else journal.answer(step)


def _made_in(unit: Unit, search: Optimisation, journal: "_Journal", position: int, ask: Ask) -> OptimisationStep:
    step = OptimisationStep(
        optimisation_id=search.id, position=position, workspace_id=unit.workspace_id, kind=type(ask).__name__.lower(),
        ask=journal.kept(ask),
    )  # fmt: skip
    unit.session.add(step)
    unit.session.flush()
    if isinstance(ask, Probe):
        _insert_trials(unit, search, step, ask)
    elif isinstance(ask, Commit):
        _open_gate_in(unit, search, step, ask)
    journal.steps[position] = step
    return step


def _insert_trials(unit: Unit, search: Optimisation, step: OptimisationStep, ask: Probe) -> None:
    ids = {case.key: case.id for case in suites.cases(unit.session, search.suite_id, split=SCREENED)}
    place = f"{search.id}/{step.position}"
    unit.session.add_all(
        ScreeningTrial(
            id=new_id(PREFIX), workspace_id=unit.workspace_id, optimisation_id=search.id, position=step.position, pair=pair,
            sha256=step.ask["document"], case_id=ids[key], seed=pair_seed(place, key, rerun=pair),
        )
        for pair, key in enumerate(ask.cases)
    )  # fmt: skip
    unit.session.flush()


def _open_gate_in(unit: Unit, search: Optimisation, step: OptimisationStep, ask: Commit) -> None:
    """A candidate, and its test against what is in production, which has to be what the search started from.

    The suite is locked first, as by everyone who opens a gate: then comes the log, which the candidate needs.
    """
    suite = suites.lock(unit.session, workspace_id=unit.workspace_id, name=_suite(unit, search).name)
    owner = unit.session.get(Skill, search.skill_id)
    _, current = labels.get_in(unit, owner, PRODUCTION)
    if current.id != search.base_version_id:
        raise Conflict(f"{PRODUCTION} moved to version {current.number} meanwhile; start again from it")
    candidate = candidates.propose_in(unit, _candidate(owner, current, search, ask))
    step.candidate_id = candidate.id
    unit.session.add(step)
    unit.session.flush()
    groups = {TARGET: ask.target} | ({STRONG: ask.protected} if ask.protected else {})
    policy = {"groups": {name: list(members) for name, members in groups.items()}} | search.gate_policy
    protected = (STRONG,) if ask.protected else (TARGET,)
    facts = {"target_slice": TARGET, "protected_slices": protected, "policy": policy}
    gates.open_in(unit, GateInput(candidate_id=candidate.id, suite=suite.name, **facts))


def _candidate(owner: Skill, base: Version, search: Optimisation, ask: Commit) -> CandidateInput:
    rationale = "; ".join(dict.fromkeys(proposal.rationale for proposal in ask.proposals if proposal.rationale))
    return CandidateInput(
        skill_name=owner.name, kind=owner.kind, base=base.number, document=ask.document, proposer=search.proposer,
        target_slice=TARGET, rationale=rationale or f"{len(ask.proposals)} repairs of optimisation {search.id}",
    )  # fmt: skip


def _outcome_in(unit: Unit, step: OptimisationStep) -> Any | None:
    """What came of a step that waits; None where that is not over yet."""
    if step.kind == "probe":
        found = rows.trials_of(unit.session, step.optimisation_id, step.position)
        over = all(trial.state in ("finished", "failed", "cancelled") for trial in found)
        return [trial.score for trial in found] if over else None
    return _ruling_in(unit, step) if step.kind == "commit" else None


def _ruling_in(unit: Unit, step: OptimisationStep) -> dict[str, Any] | None:
    view = candidates.view_in(unit, candidates.get_in(unit, step.candidate_id))
    if view.decision is None:
        return None
    paid = sum(trial.state == "finished" for trial in trials.of_gate(unit.session, view.gate_id))
    search = rows.get(unit.session, step.optimisation_id)
    search.spent += paid
    if view.decision.version_id:
        search.base_version_id = view.decision.version_id
    unit.session.add(search)
    return asdict(Ruling(view.decision.verdict, view.decision.reason, paid))


class _Journal:
    """The steps of a search, with documents in place of their hashes."""

    def __init__(self, unit: Unit, optimisation_id: str) -> None:
        self._unit, self._id = unit, optimisation_id
        self.steps = {step.position: step for step in rows.journal(unit.session, optimisation_id)}
        self._drafts = rows.drafts(unit.session, optimisation_id)

    def kept(self, ask: Ask) -> dict[str, Any]:
        """The ask as it is stored."""
        sha256 = sha256_bytes(ask.document.encode())
        if sha256 not in self._drafts:
            draft = OptimisationDraft(optimisation_id=self._id, sha256=sha256, document=ask.document)
            draft.workspace_id = self._unit.workspace_id
            rows.keep_draft(self._unit.session, draft)
            self._drafts[sha256] = ask.document
        return asdict(ask) | {"document": sha256}

    def ask(self, step: OptimisationStep) -> Propose:
        return Propose(**step.ask | {"document": self._drafts[step.ask["document"]]})

    def answer(self, step: OptimisationStep) -> Answer:
        """The answer as the search takes it."""
        value = step.answer["value"]
        if step.kind == "probe":
            return value
        return Ruling(**value) if step.kind == "commit" else [Proposal.of(item) for item in value]


def _settle(unit: Unit, step: OptimisationStep, value: Any) -> None:
    step.answer, step.answered_at = {"value": value}, now()
    unit.session.add(step)
    unit.session.flush()


def _end_in(unit: Unit, search: Optimisation, state: str, reason: str) -> None:
    search.state, search.reason, search.finished_at = state, reason, now()
    unit.session.add(search)
    rows.cancel_pending(unit.session, search.id)
    unit.session.flush()
    unit.record("optimisation.ended", search.id, state=state, reason=reason, spent=search.spent)


def _waiting_in(unit: Unit, search: Optimisation) -> OptimisationStep | None:
    return _waiting(search, rows.last_steps(unit.session, [search.id]).get(search.id))


def _waiting(search: Optimisation, last: OptimisationStep | None) -> OptimisationStep | None:
    """The step that a search waits for."""
    return last if search.state == "running" and last is not None and last.answer is None else None


def _check_proposal(search: Optimisation, document: str, proposal: Proposal, *, place: str) -> None:
    try:
        if unknown := [name for name in proposal.targets if name not in search.cases]:
            raise Invalid(f"{unknown[0]!r} is not a slice that is searched", path="/targets")
        repaired = proposal.onto(document)
        documents.parse(repaired, name=documents.parse(document).name)
        publication.check(repaired)
    except SkillhubError as error:
        raise error.within(place) from None


def _asking_in(unit: Unit, search: Optimisation) -> OptimisationStep:
    step = _waiting_in(unit, search)
    if step is None or step.kind != "propose":
        what = f"waits for a {step.kind}" if step else f"is {search.state}"
        raise Conflict(f"the optimisation {what}; it asks for no proposals now")
    return step


def _screened_in(unit: Unit, suite: Suite) -> dict[str, list[str]]:
    """Slice -> keys of its cases that may be screened; Invalid where there are none."""
    found: dict[str, list[str]] = {}
    for case in suites.cases(unit.session, suite.id, split=SCREENED):
        found.setdefault(case.slice, []).append(case.key)
    if not found:
        raise Invalid(f"the suite {suite.name!r} has no case of the split {SCREENED!r}, which is screened", path="/suite")
    return found


def _suite(unit: Unit, search: Optimisation) -> Suite:
    return suites.get(unit.session, search.suite_id)


def _get_in(unit: Unit, optimisation_id: str) -> Optimisation:
    return rows.get(unit.session, optimisation_id) or _missing(optimisation_id)


def _locked_in(unit: Unit, optimisation_id: str) -> Optimisation:
    return rows.lock(unit.session, optimisation_id) or _missing(optimisation_id)


def _missing(optimisation_id: str) -> Any:
    raise NotFound(f"there is no optimisation {optimisation_id!r}")


def _view_in(unit: Unit, search: Optimisation) -> OptimisationView:
    return _views_in(unit, [search])[0]


def _views_in(unit: Unit, found: Sequence[Optimisation]) -> list[OptimisationView]:
    last = rows.last_steps(unit.session, [search.id for search in found])
    return [_seen(unit, search, _waiting(search, last.get(search.id))) for search in found]


def _seen(unit: Unit, search: Optimisation, step: OptimisationStep | None) -> OptimisationView:
    base = versions.get(unit.session, search.base_version_id)
    skill = unit.session.get(Skill, search.skill_id)
    return OptimisationView(search, skill, _suite(unit, search), base, step.kind if step else None)
