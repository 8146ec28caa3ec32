"""Skills, their versions and their labels."""

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query, Response

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.skills import (
    MAX_NUMBER,
    Kind,
    LabelIn,
    LabelOut,
    RetireIn,
    RollbackIn,
    SkillIn,
    SkillOut,
    VersionIn,
    VersionOut,
)
from skillhub.errors import PreconditionFailed
from skillhub.models import Label, Version
from skillhub.services import imports, labels, skills, versions
from skillhub.services.labels import PRODUCTION
from skillhub.store import labels as label_rows
from skillhub.store import skills as skill_rows
from skillhub.store import versions as version_rows

router = APIRouter(prefix="/v1/skills", tags=["skills"])

SkillPage = Annotated[PageQuery, sorted_by(skill_rows.ORDERS, default="name")]
VersionPage = Annotated[PageQuery, sorted_by(version_rows.ORDERS, default="-number")]
LabelPage = Annotated[PageQuery, sorted_by(label_rows.ORDERS, default="name")]
NumberPath = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


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
    facts = body.model_dump(exclude={"files"})
    return once(VersionOut, lambda scope: VersionOut.of(versions.publish(scope, name=name, **facts, files=body.bundled())))


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


@router.get("/{name}/labels")
def list_labels(name: str, scope: ScopeDep, page: LabelPage) -> Page[LabelOut]:
    """The labels of a skill by name."""
    found = labels.page(scope, page.start, name=name)
    return page.page(found, row=lambda pair: pair[0], item=lambda pair: LabelOut.of(name, *pair))


@router.get("/{name}/labels/{label}")
def get_label(name: str, label: str, scope: ScopeDep, response: Response) -> LabelOut:
    """Where a label points. Its ETag goes into `If-Match` of the move."""
    return _label(name, *labels.get(scope, name=name, label=label), response)


@router.put("/{name}/labels/{label}")
def move_label(
    name: str, label: str, body: LabelIn, scope: ScopeDep, response: Response, if_match: Annotated[str | None, Header()] = None
) -> LabelOut:
    """Point a label at a version. 412 where the label exists and `If-Match` is not its ETag."""
    revision = _revision(if_match)
    moved = labels.move(scope, name=name, label=label, number=body.number, revision=revision)
    return _label(name, *moved, response)


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


def _label(name: str, label: Label, version: Version, response: Response) -> LabelOut:
    response.headers["ETag"] = f'"{label.revision}"'
    return LabelOut.of(name, label, version)


def _revision(if_match: str | None) -> int | None:
    if if_match is None:
        return None
    match = re.fullmatch(r'"?(\d{1,9})"?', if_match.strip(), re.ASCII)
    if match is None:
        raise PreconditionFailed("`If-Match` must be the ETag of the label")
    return int(match[1])
