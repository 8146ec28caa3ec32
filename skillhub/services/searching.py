"""Driving a search: the job plays it from its journal, up to the next ask that has to be waited for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from skillhub.errors import Conflict, NotFound, SkillhubError
from skillhub.evaluation.cases import pair_seed
from skillhub.gate.policy import Policy
from skillhub.hashing import sha256_bytes
from skillhub.ids import new_id
from skillhub.models import Optimisation, OptimisationDraft, OptimisationStep, ScreeningTrial, Skill, Suite, Version
from skillhub.models.base import now
from skillhub.optimise.asks import Answer, Ask, Commit, Probe, Proposal, Propose, Ruling
from skillhub.optimise.boost import boost
from skillhub.optimise.policy import SearchPolicy
from skillhub.services import candidates, gates, labels
from skillhub.services.candidates import CandidateInput
from skillhub.services.gates import GateInput
from skillhub.services.jobs import Claim
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Unit
from skillhub.services.screening import PREFIX
from skillhub.store import optimisations as rows
from skillhub.store import suites, trials

SCREENED = "train"
"""The split whose cases are screened; the gate draws from `dev`."""
TARGET, REPAIRED = "target", "repaired"
"""Names under which the gate of a commit counts slices as one: those it should help, and those that earlier commits did."""


def advance(claim: Claim) -> None:
    """The job: play the search from its journal, up to the next ask that waits."""
    with claim.effect() as unit:
        search = locked_in(unit, claim.payload["optimisation_id"])
        if search.state == "running":
            try:
                _advance_in(unit, search)
            except SkillhubError as error:
                end_in(unit, search, "failed", str(error))
        claim.result["state"] = search.state


def _advance_in(unit: Unit, search: Optimisation) -> None:
    journal = Journal(unit, search.id)
    constants = SearchPolicy.of(search.policy)
    running = boost(search.start_document, search.cases, budget=search.budget, policy=constants, seed=search.seed)
    ask, position = next(running), 0
    try:
        while (found := _answered_in(unit, search, journal, position, ask)) is not None:
            ask, position = running.send(found), position + 1
    except StopIteration:
        end_in(unit, search, "finished", "nothing more is worth a trial")


def _answered_in(unit: Unit, search: Optimisation, journal: "Journal", position: int, ask: Ask) -> Answer | None:
    """The answer of a step, which is made where it is new; None where it has to be waited for."""
    step = journal.steps.get(position) or _made_in(unit, search, journal, position, ask)
    if (step.kind, step.ask["document"]) != (_kind(ask), sha256_bytes(ask.document.encode())):
        raise Conflict("the search began under a release that searched in another way; start again")
    if step.answer is None and (found := _outcome_in(unit, step)) is not None:
        settle(unit, step, found)
    return None if step.answer is None else journal.answer(step)


def _made_in(unit: Unit, search: Optimisation, journal: "Journal", position: int, ask: Ask) -> OptimisationStep:
    step = OptimisationStep(
        optimisation_id=search.id, position=position, workspace_id=unit.workspace_id, kind=_kind(ask),
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


def _kind(ask: Ask) -> str:
    return type(ask).__name__.lower()


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
    suite = suites.lock(unit.session, workspace_id=unit.workspace_id, name=suite_of(unit, search).name)
    owner = unit.session.get(Skill, search.skill_id)
    _, current = labels.get_in(unit, owner, PRODUCTION)
    if current.id != search.base_version_id:
        raise Conflict(f"{PRODUCTION} moved to version {current.number} meanwhile; start again from it")
    candidate = candidates.propose_in(unit, _candidate(owner, current, search, ask))
    step.candidate_id = candidate.id
    unit.session.add(step)
    unit.session.flush()
    groups = {TARGET: ask.target} | {members[0] if len(members) == 1 else REPAIRED: members for members in ask.protected}
    protected = tuple(name for name in groups if name != TARGET) or (TARGET,)
    facts = {"target_slice": TARGET, "protected_slices": protected, "policy": _gate_policy(search, groups, ask.trials)}
    gates.open_in(unit, GateInput(candidate_id=candidate.id, suite=suite.name, **facts))


def _gate_policy(search: Optimisation, groups: Mapping[str, Sequence[str]], trials: int) -> dict[str, Any]:
    """Constants of the gate of a commit: the loss that the screen allows, and no more pairs than the search may pay."""
    several = {name: list(members) for name, members in groups.items() if name in (TARGET, REPAIRED)}
    chosen = {"beta": search.policy["loss"]} | search.gate_policy
    return chosen | {"groups": several, "most_pairs": min(trials // 2, Policy.of(chosen).most_pairs)}


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


class Journal:
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


def settle(unit: Unit, step: OptimisationStep, value: Any) -> None:
    step.answer, step.answered_at = {"value": value}, now()
    unit.session.add(step)
    unit.session.flush()


def end_in(unit: Unit, search: Optimisation, state: str, reason: str) -> None:
    search.state, search.reason, search.finished_at = state, reason, now()
    unit.session.add(search)
    rows.cancel_pending(unit.session, search.id)
    unit.session.flush()
    unit.record("optimisation.ended", search.id, state=state, reason=reason, spent=search.spent)


def suite_of(unit: Unit, search: Optimisation) -> Suite:
    return suites.get(unit.session, search.suite_id)


def locked_in(unit: Unit, optimisation_id: str) -> Optimisation:
    return rows.lock(unit.session, optimisation_id) or missing(optimisation_id)


def missing(optimisation_id: str) -> NoReturn:
    raise NotFound(f"there is no optimisation {optimisation_id!r}")
