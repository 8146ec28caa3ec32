"""Optimising a skill: a search that is driven by its journal, screening trials that are leased like any others, and the gate.

The search is a generator (`skillhub.optimise`). Each ask is a step in the journal; it is answered when its trials are
over, when proposals came, or when its gate decided. Then a job plays the search again from the journal up to the next ask
that has no answer yet. A worker that dies loses nothing, and no trial is paid twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skillhub import documents
from skillhub.errors import Conflict, Invalid, SkillhubError
from skillhub.gate.policy import Policy
from skillhub.ids import new_id
from skillhub.models import Optimisation, OptimisationStep, Skill, Suite, Version
from skillhub.optimise.asks import Proposal, Propose
from skillhub.optimise.policy import SearchPolicy
from skillhub.safety import publication
from skillhub.services import labels, skills
from skillhub.services.gates import OPTIMISATION_JOB
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.searching import SCREENED, Journal, end_in, locked_in, missing, settle, suite_of
from skillhub.services.suites import get_in as suite_in
from skillhub.store import optimisations as rows
from skillhub.store import suites, versions
from skillhub.store.keyset import Start

NEWEST, IN_ORDER = Start("-created_at"), Start("position")


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
    Policy.of(gate_policy or {})
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
        return Journal(unit, optimisation_id).ask(step)


def answer(scope: Scope, optimisation_id: str, proposals: Sequence[Proposal]) -> OptimisationView:
    """Proposals for what the search asks for; none ends it.

    Errors: NotFound; Conflict where it does not ask now; Invalid, with its place, for one that does not fit the document, makes
    it one that could not be published, or targets a slice that is not searched.
    """
    with scope.transaction() as unit:
        search = locked_in(unit, optimisation_id)
        step = _asking_in(unit, search)
        document = Journal(unit, search.id).ask(step).document
        for index, proposal in enumerate(proposals):
            _check_proposal(search, document, proposal, place=f"/proposals/{index}")
        settle(unit, step, [asdict(proposal) for proposal in proposals])
        unit.enqueue(OPTIMISATION_JOB, optimisation_id=search.id)
        return _view_in(unit, search)


def cancel(scope: Scope, optimisation_id: str) -> OptimisationView:
    """End a search; what it committed stays. Cancelling one that is over changes nothing."""
    with scope.transaction() as unit:
        search = locked_in(unit, optimisation_id)
        if search.state == "running":
            end_in(unit, search, "cancelled", "cancelled by a person")
        return _view_in(unit, search)


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


def _get_in(unit: Unit, optimisation_id: str) -> Optimisation:
    return rows.get(unit.session, optimisation_id) or missing(optimisation_id)


def _view_in(unit: Unit, search: Optimisation) -> OptimisationView:
    return _views_in(unit, [search])[0]


def _views_in(unit: Unit, found: Sequence[Optimisation]) -> list[OptimisationView]:
    last = rows.last_steps(unit.session, [search.id for search in found])
    return [_seen(unit, search, _waiting(search, last.get(search.id))) for search in found]


def _seen(unit: Unit, search: Optimisation, step: OptimisationStep | None) -> OptimisationView:
    base = versions.get(unit.session, search.base_version_id)
    skill = unit.session.get(Skill, search.skill_id)
    return OptimisationView(search, skill, suite_of(unit, search), base, step.kind if step else None)
