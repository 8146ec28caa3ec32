"""Many things in one call, for trainers and agents: what is not there is left out, and each answer says what it is of."""

from fastapi import APIRouter

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.schemas.batches import LabelQueryIn, LabelsOut, RetireManyIn, SkillsOut, VersionQueryIn, VersionsOut
from api.schemas.skills import SkillOut, VersionOut
from api.schemas.versions import LabelOut, PublicationsIn, PublicationsOut
from skillhub.services import labels, publications, skills, versions
from skillhub.services.scope import Scope

router = APIRouter(prefix="/v1", tags=["skills"])


@router.post("/labels/query")
def query_labels(body: LabelQueryIn, scope: ScopeDep) -> LabelsOut:
    """Where one label of many skills points; a skill without it is left out."""
    found = labels.query(scope, [(name, body.label) for name in body.skills])
    return LabelsOut(labels=[LabelOut.of(*row) for row in found])


@router.post("/versions/query")
def query_versions(body: VersionQueryIn, scope: ScopeDep) -> VersionsOut:
    """Versions by id, e.g. all that an episode was shown; an id that is not known is left out."""
    return VersionsOut(versions=[VersionOut.of(view) for view in versions.by_id(scope, body.ids)])


@router.post("/publications", status_code=201)
def publish_all(body: PublicationsIn, once: OnceDep) -> PublicationsOut:
    """The next version of each skill, in one transaction: all of them, or none. Content its label has already is left alone.

    An error says which item it is about: `/items/INDEX/...`.
    """
    items = [item.item(index) for index, item in enumerate(body.items)]

    def publish(scope: Scope) -> PublicationsOut:
        return PublicationsOut(versions=[VersionOut.of(view) for view in publications.publish_all(scope, items)])

    return once(PublicationsOut, publish)


@router.post("/skills/retire")
def retire_skills(body: RetireManyIn, once: OnceDep) -> SkillsOut:
    """Take many skills out of service: all of them, or none where one is not there."""

    def retire(scope: Scope) -> SkillsOut:
        retired = skills.retire_all(scope, names=body.skills, reason=body.reason)
        return SkillsOut(skills=[SkillOut.of(view) for view in retired])

    return once(SkillsOut, retire)
