"""Candidates: proposed versions."""

from typing import Annotated

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.candidates import CandidateIn, CandidateOut, CandidateState
from api.schemas.gates import GateIn, GateOut
from api.schemas.skills import Kind
from skillhub.services import candidates, gates
from skillhub.store import candidates as rows

CandidatePage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
router = APIRouter(prefix="/v1/candidates", tags=["candidates"])


@router.post("", status_code=201)
def propose(body: CandidateIn, once: OnceDep) -> CandidateOut:
    """Propose a version. It is published only through a gate. 409 where it is identical to production."""
    return once(CandidateOut, lambda scope: CandidateOut.of(candidates.propose(scope, body.input())))


@router.get("")
def list_candidates(
    scope: ScopeDep, page: CandidatePage, created: CreatedDep, state: CandidateState | None = None, slice: Word | None = None,
    skill: Word | None = None, kind: Kind | None = None, proposer: Word | None = None, branch_id: Word | None = None,
) -> Page[CandidateOut]:  # fmt: skip
    """Candidates, newest first."""
    filters = {"state": state, "target_slice": slice, "skill_name": skill, "kind": kind, "proposer": proposer}
    found = candidates.page(scope, page.start, **filters, branch_id=branch_id, **created)
    return page.page(found, row=lambda view: view.candidate, item=CandidateOut.of)


@router.get("/{candidate_id}")
def get_candidate(candidate_id: str, scope: ScopeDep) -> CandidateOut:
    """A candidate with its evidence and, once there is one, the decision."""
    return CandidateOut.of(candidates.get(scope, candidate_id))


@router.post("/{candidate_id}/gate", status_code=201)
def open_gate(candidate_id: str, body: GateIn, once: OnceDep) -> GateOut:
    """Register the acceptance test, before its first trial. 409 where the candidate was gated before; 422 where the suite
    has too few cases for even a perfect candidate to be accepted."""
    return once(GateOut, lambda scope: GateOut.of(gates.open_gate(scope, body.input(candidate_id))))
