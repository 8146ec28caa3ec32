"""Searches for a better version of a skill, on a budget of trials."""

from typing import Annotated

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.optimisations import (
    AskedOut,
    OptimisationIn,
    OptimisationOut,
    OptimisationState,
    ProposalsIn,
    StepKind,
    StepOut,
)
from skillhub.services import optimisations
from skillhub.services.scope import Scope
from skillhub.store import optimisations as rows

router = APIRouter(prefix="/v1/optimisations", tags=["optimisations"])
OptimisationPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
StepPage = Annotated[PageQuery, sorted_by(rows.STEP_ORDERS, default="position")]


@router.post("", status_code=201)
def start_optimisation(body: OptimisationIn, once: OnceDep) -> OptimisationOut:
    """Begin a search from what is in production. Its trials are leased like those of gates; only a gate changes anything."""
    facts = body.model_dump()
    return once(OptimisationOut, lambda scope: OptimisationOut.of(optimisations.start(scope, **facts)))


@router.get("")
def list_optimisations(
    scope: ScopeDep, page: OptimisationPage, created: CreatedDep, state: OptimisationState | None = None
) -> Page[OptimisationOut]:
    """Searches, newest first."""
    found = optimisations.page(scope, page.start, state=state, **created)
    return page.page(found, row=lambda view: view.optimisation, item=OptimisationOut.of)


@router.get("/{optimisation_id}")
def get_optimisation(optimisation_id: str, scope: ScopeDep) -> OptimisationOut:
    """How far a search is, and what it waits for."""
    return OptimisationOut.of(optimisations.get(scope, optimisation_id))


@router.get("/{optimisation_id}/steps")
def list_optimisation_steps(
    optimisation_id: str, scope: ScopeDep, page: StepPage, kind: StepKind | None = None
) -> Page[StepOut]:
    """The journal of a search: all it asked, and the answers."""
    found = optimisations.steps(scope, page.start, optimisation_id=optimisation_id, kind=kind)
    return page.page(found, item=StepOut.of)


@router.get("/{optimisation_id}/asked")
def get_asked(optimisation_id: str, scope: ScopeDep) -> AskedOut:
    """The document that repairs are asked for, and where it fails. 409 while the search waits for something else."""
    return AskedOut.of(optimisations.asked(scope, optimisation_id))


@router.post("/{optimisation_id}/proposals")
def answer_with_proposals(optimisation_id: str, body: ProposalsIn, once: OnceDep) -> OptimisationOut:
    """Repairs for what is asked; none ends the search. 409 while it waits for something else."""

    def answer(scope: Scope) -> OptimisationOut:
        base = optimisations.asked(scope, optimisation_id).document
        proposals = [proposal.proposal(base) for proposal in body.proposals]
        return OptimisationOut.of(optimisations.answer(scope, optimisation_id, proposals))

    return once(OptimisationOut, answer)


@router.post("/{optimisation_id}/cancel")
def cancel_optimisation(optimisation_id: str, once: OnceDep) -> OptimisationOut:
    """End a search. What it committed stays."""
    return once(OptimisationOut, lambda scope: OptimisationOut.of(optimisations.cancel(scope, optimisation_id)))
