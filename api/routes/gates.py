"""Acceptance tests under way and decided."""

from fastapi import APIRouter

from api.deps import ScopeDep
from api.schemas.gates import GateOut
from skillhub.services import gates

router = APIRouter(prefix="/v1/gates", tags=["gates"])


@router.get("/{gate_id}")
def get_gate(gate_id: str, scope: ScopeDep) -> GateOut:
    """What was registered, the numbers so far, the trials, and the decision once there is one."""
    return GateOut.of(gates.get(scope, gate_id))
