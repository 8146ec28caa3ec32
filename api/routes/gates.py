"""Acceptance tests under way and decided, their trials and their decisions."""

from typing import Annotated, Literal

from fastapi import APIRouter

from api.deps import ScopeDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.candidates import DecisionOut
from api.schemas.gates import GateOut, GateTrialOut, RegisteredGateOut, ReplayOut
from skillhub.services import gates
from skillhub.store import gates as rows
from skillhub.store import trials as trial_rows

router = APIRouter(prefix="/v1", tags=["gates"])
GatePage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
TrialPage = Annotated[PageQuery, sorted_by(trial_rows.ORDERS, default="pair")]
Verdict = Literal["accepted", "rejected", "undecided", "error"]
TrialState = Literal["pending", "leased", "finished", "failed", "cancelled"]


@router.get("/gates")
def list_gates(
    scope: ScopeDep, page: GatePage, created: CreatedDep, state: Literal["open", "decided"] | None = None,
    suite: Word | None = None, candidate_id: Word | None = None,
) -> Page[RegisteredGateOut]:  # fmt: skip
    """Gates as they were registered, newest first. 404 for an unknown suite."""
    found = gates.page(scope, page.start, state=state, suite=suite, candidate_id=candidate_id, **created)
    return page.page(found, item=RegisteredGateOut.of_row)


@router.get("/gates/{gate_id}")
def get_gate(gate_id: str, scope: ScopeDep) -> GateOut:
    """What was registered, the numbers so far, the trials, and the decision once there is one."""
    return GateOut.of(gates.get(scope, gate_id))


@router.get("/gates/{gate_id}/replay")
def replay_gate(gate_id: str, scope: ScopeDep) -> ReplayOut:
    """Decide once more from the stored trials. 409 while the gate is open, or where another procedure decided it."""
    return ReplayOut.of(gates.replay(scope, gate_id))


@router.get("/gates/{gate_id}/trials")
def list_gate_trials(
    gate_id: str, scope: ScopeDep, page: TrialPage, state: TrialState | None = None,
    arm: Literal["base", "candidate"] | None = None,
) -> Page[GateTrialOut]:  # fmt: skip
    """The trials of a gate by pair, the base's before the candidate's."""
    found = gates.trial_page(scope, page.start, gate_id=gate_id, state=state, arm=arm)
    return page.page(found, row=lambda pair: pair[0], item=lambda pair: GateTrialOut.of(*pair))


@router.get("/decisions")
def list_decisions(
    scope: ScopeDep, page: GatePage, created: CreatedDep, verdict: Verdict | None = None, candidate_id: Word | None = None
) -> Page[DecisionOut]:
    """Decisions, newest first."""
    found = gates.decision_page(scope, page.start, verdict=verdict, candidate_id=candidate_id, **created)
    return page.page(found, item=DecisionOut.of)
