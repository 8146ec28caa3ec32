"""Holding skills and versions back, and what descends from a version."""

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import Page, PageDep
from api.routes.skills import NumberPath
from api.schemas.batches import VersionsOut
from api.schemas.skills import HoldVersionIn, RetireIn, SkillOut, VersionOut
from skillhub.services import quarantine
from skillhub.services.scope import Scope

router = APIRouter(prefix="/v1", tags=["quarantine"])


@router.post("/skills/{name}/quarantine")
def quarantine_skill(name: str, body: RetireIn, once: OnceDep) -> SkillOut:
    """Hold a skill back: no agent is shown it until it is released. 409 on a retired skill."""
    return once(SkillOut, lambda scope: SkillOut.of(quarantine.hold_skill(scope, name=name, reason=body.reason)))


@router.post("/skills/{name}/release")
def release_skill(name: str, once: OnceDep) -> SkillOut:
    """Serve a skill again."""
    return once(SkillOut, lambda scope: SkillOut.of(quarantine.release_skill(scope, name=name)))


@router.post("/skills/{name}/versions/{number}/quarantine")
def quarantine_version(name: str, number: NumberPath, body: HoldVersionIn, once: OnceDep) -> VersionsOut:
    """Hold a version back, with all that descends from it where asked. A label that points at it serves nothing."""

    def hold(scope: Scope) -> VersionsOut:
        held = quarantine.hold_version(scope, name=name, number=number, **body.model_dump())
        return VersionsOut(versions=[VersionOut.of(view) for view in held])

    return once(VersionsOut, hold)


@router.post("/skills/{name}/versions/{number}/release")
def release_version(name: str, number: NumberPath, once: OnceDep) -> VersionOut:
    """Serve a version again."""
    return once(VersionOut, lambda scope: VersionOut.of(quarantine.release_version(scope, name=name, number=number)))


@router.get("/versions/{version_id}/descendants")
def list_descendants(version_id: str, scope: ScopeDep, page: PageDep) -> Page[VersionOut]:
    """Everything that descends from a version, in whatever skill, by id."""
    found = quarantine.descendants(scope, version_id, after=page.after, limit=page.fetch)
    return page.page(found, key=lambda view: view.version.id, item=VersionOut.of)
