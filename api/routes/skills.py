"""Skills, their versions and their labels."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.skills import (
    MAX_NUMBER,
    Kind,
    RetireIn,
    RollbackIn,
    SkillIn,
    SkillOut,
    VersionIn,
    VersionOut,
)
from api.schemas.versions import DiffOut, MergeIn
from skillhub.services import imports, merging, skills, versions
from skillhub.services.labels import PRODUCTION
from skillhub.store import skills as skill_rows
from skillhub.store import versions as version_rows

router = APIRouter(prefix="/v1/skills", tags=["skills"])

SkillPage = Annotated[PageQuery, sorted_by(skill_rows.ORDERS, default="name")]
VersionPage = Annotated[PageQuery, sorted_by(version_rows.ORDERS, default="-number")]
NumberPath = Annotated[int, Path(ge=1, le=MAX_NUMBER)]
BeforeQuery = Annotated[int, Query(alias="from", ge=1, le=MAX_NUMBER)]
AfterQuery = Annotated[int, Query(alias="to", ge=1, le=MAX_NUMBER)]


@router.post("", status_code=201)
def create_skill(body: SkillIn, once: OnceDep) -> SkillOut:
    """A new skill with its first version. 409 where the name is taken by other content, 422 with the line of each fault."""
    facts = body.model_dump(exclude={"files"})
    return once(SkillOut, lambda scope: SkillOut.of(versions.create(scope, **facts, files=body.bundled())))


@router.get("")
def list_skills(
    scope: ScopeDep, page: SkillPage, created: CreatedDep, kind: Kind | None = None,
    state: Literal["published", "quarantined", "retired"] | None = None, label: Word | None = None, prefix: Word | None = None,
) -> Page[SkillOut]:  # fmt: skip
    """Skills by name; `label` keeps those that have it, `prefix` those whose name begins so."""
    found = skills.page(scope, page.start, kind=kind, state=state, label=label, prefix=prefix, **created)
    return page.page(found, row=lambda view: view.skill, item=SkillOut.of)


@router.get("/{name}")
def get_skill(name: str, scope: ScopeDep) -> SkillOut:
    """A skill with its labels and its newest version."""
    return SkillOut.of(skills.get(scope, name))


@router.post("/{name}/versions", status_code=201)
def publish_version(name: str, body: VersionIn, once: OnceDep) -> VersionOut:
    """The next version: a document, or edits of version `base`. 409 where `base` is no longer the newest."""
    facts = body.facts()
    return once(VersionOut, lambda scope: VersionOut.of(versions.publish(scope, name=name, **facts)))


@router.get("/{name}/versions")
def list_versions(
    name: str, scope: ScopeDep, page: VersionPage, created: CreatedDep, created_by: Word | None = None
) -> Page[VersionOut]:
    """The history of a skill, newest first."""
    found = versions.history(scope, page.start, name=name, created_by=created_by, **created)
    return page.page(found, row=lambda view: view.version, item=VersionOut.of)


@router.get("/{name}/versions/{number}")
def get_version(name: str, number: NumberPath, scope: ScopeDep) -> VersionOut:
    """One version; it never changes."""
    return VersionOut.of(versions.get(scope, name=name, number=number))


@router.get("/{name}/diff")
def diff_versions(name: str, scope: ScopeDep, before: BeforeQuery, after: AfterQuery) -> DiffOut:
    """What makes version `to` of version `from`: metadata, sections, files, and the text."""
    return DiffOut.of(merging.compare(scope, name=name, before=before, after=after))


@router.post("/{name}/merge", status_code=201)
def merge_versions(name: str, body: MergeIn, once: OnceDep) -> VersionOut:
    """A new version with what two versions changed since their nearest common ancestor; both are its parents.

    409 `merge_conflict` names each part that both changed apart.
    """
    facts = {"left": body.versions[0], "right": body.versions[1], "message": body.message, "label": body.label}
    return once(VersionOut, lambda scope: VersionOut.of(merging.merge_versions(scope, name=name, **facts)))


@router.post("/{name}/rollback", status_code=201)
def rollback(name: str, body: RollbackIn, once: OnceDep) -> VersionOut:
    """A new version with the content of an earlier one; the label moves to it."""
    return once(VersionOut, lambda scope: VersionOut.of(versions.rollback(scope, name=name, **body.model_dump())))


@router.post("/{name}/retire")
def retire(name: str, body: RetireIn, once: OnceDep) -> SkillOut:
    """Take a skill out of service. Its history stays readable; no agent is shown it again."""
    return once(SkillOut, lambda scope: SkillOut.of(skills.retire(scope, name=name, reason=body.reason)))


@router.get("/{name}/export", response_class=Response, responses={200: {"content": {"application/zip": {}}}})
def export(
    name: str,
    scope: ScopeDep,
    label: str = PRODUCTION,
    version: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
) -> Response:
    """The folder of a version as a zip."""
    found, content = imports.export(scope, name=name, label=label, number=version)
    disposition = f'attachment; filename="skill-{found.number}.zip"'
    headers = {"Content-Disposition": disposition, "ETag": f'"{found.content_sha256}"'}
    return Response(content, media_type="application/zip", headers=headers)

