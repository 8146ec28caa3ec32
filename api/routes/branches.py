"""Branches of a skill: named lines of candidates."""

from typing import Annotated, Literal

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import Page, PageQuery, sorted_by
from api.schemas.branches import BranchCandidateIn, BranchIn, BranchMergeIn, BranchOut
from api.schemas.candidates import CandidateOut
from skillhub.services import branches
from skillhub.store import branches as rows

router = APIRouter(prefix="/v1/skills/{name}/branches", tags=["branches"])
BranchPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]


@router.post("", status_code=201)
def create_branch(name: str, body: BranchIn, once: OnceDep) -> BranchOut:
    """A named line of candidates that starts at a version. 409 where the name is taken."""
    return once(BranchOut, lambda scope: BranchOut.of(branches.create(scope, skill=name, name=body.name, base=body.base)))


@router.get("")
def list_branches(
    name: str, scope: ScopeDep, page: BranchPage, state: Literal["open", "closed"] | None = None
) -> Page[BranchOut]:
    """The branches of a skill, newest first."""
    found = branches.page(scope, page.start, skill=name, state=state)
    return page.page(found, row=lambda view: view.branch, item=BranchOut.of)


@router.get("/{branch}")
def get_branch(name: str, branch: str, scope: ScopeDep) -> BranchOut:
    """A branch: where it starts, and the newest candidate on it."""
    return BranchOut.of(branches.get(scope, skill=name, name=branch))


@router.post("/{branch}/candidates", status_code=201)
def propose_on_branch(name: str, branch: str, body: BranchCandidateIn, once: OnceDep) -> CandidateOut:
    """The next candidate on a branch. 409 where the head is another by now, and on a closed branch."""
    facts = body.facts()
    return once(CandidateOut, lambda scope: CandidateOut.of(branches.propose(scope, skill=name, name=branch, **facts)))


@router.post("/{branch}/merge", status_code=201)
def merge_branch(name: str, branch: str, body: BranchMergeIn, once: OnceDep) -> CandidateOut:
    """The head put together with what production is now, as the next candidate; the gate decides what becomes of it.

    Where production has not moved since, that is the head as it is. 409 `merge_conflict` names each part both sides changed.
    """
    facts = body.model_dump()
    return once(CandidateOut, lambda scope: CandidateOut.of(branches.merge(scope, skill=name, name=branch, **facts)))


@router.post("/{branch}/close")
def close_branch(name: str, branch: str, once: OnceDep) -> BranchOut:
    """No more candidates on this branch; those it has stay."""
    return once(BranchOut, lambda scope: BranchOut.of(branches.close(scope, skill=name, name=branch)))
