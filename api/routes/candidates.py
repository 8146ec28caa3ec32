"""Candidates: proposed versions."""

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import Page, PageDep
from api.schemas.candidates import CandidateIn, CandidateOut, CandidateState
from api.schemas.gates import GateIn, GateOut
from skillhub.services import candidates, gates

router = APIRouter(prefix="/v1/candidates", tags=["candidates"])


@router.post("", status_code=201)
def propose(body: CandidateIn, once: OnceDep) -> CandidateOut:
    """Propose a version. It is published only through a gate. 409 where it is identical to production."""
    return once(CandidateOut, lambda scope: CandidateOut.of(candidates.propose(scope, body.input())))


@router.get("")
def list_candidates(
    scope: ScopeDep, page: PageDep, state: CandidateState | None = None, slice: str | None = None
) -> Page[CandidateOut]:
    """Candidates, newest first."""
    rows = candidates.page(scope, state=state, slice=slice, before=page.after, limit=page.fetch)
    return page.page(rows, key=lambda view: view.candidate.id, item=CandidateOut.of)


@router.get("/{candidate_id}")
def get_candidate(candidate_id: str, scope: ScopeDep) -> CandidateOut:
    """A candidate with its evidence and, once there is one, the decision."""
    return CandidateOut.of(candidates.get(scope, candidate_id))


@router.post("/{candidate_id}/gate", status_code=201)
def open_gate(candidate_id: str, body: GateIn, once: OnceDep) -> GateOut:
    """Register the acceptance test, before its first trial. 409 where the candidate was gated before; 422 where the suite
    has too few cases for even a perfect candidate to be accepted."""
    return once(GateOut, lambda scope: GateOut.of(gates.open_gate(scope, body.input(candidate_id))))
