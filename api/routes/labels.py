"""Labels of a skill, and where they pointed before."""

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Response

from api.deps import ScopeDep
from api.pages import Page, PageQuery, sorted_by
from api.schemas.skills import Message
from api.schemas.versions import LabelIn, LabelMoveOut, LabelOut
from skillhub.errors import PreconditionFailed
from skillhub.models import Label, Version
from skillhub.services import labels
from skillhub.store import events as event_rows
from skillhub.store import labels as rows

router = APIRouter(prefix="/v1/skills/{name}/labels", tags=["labels"])
LabelPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="name")]
MovePage = Annotated[PageQuery, sorted_by(event_rows.ORDERS, default="-seq")]
IfMatch = Annotated[str | None, Header(description="The `ETag` of the label as you read it")]
IfNew = Annotated[Literal["*"] | None, Header(alias="If-None-Match", description="Only where there is no such label yet")]


@router.get("")
def list_labels(name: str, scope: ScopeDep, page: LabelPage) -> Page[LabelOut]:
    """The labels of a skill by name."""
    found = labels.page(scope, page.start, name=name)
    return page.page(found, row=lambda pair: pair[0], item=lambda pair: LabelOut.of(name, *pair))


@router.get("/{label}")
def get_label(name: str, label: str, scope: ScopeDep, response: Response) -> LabelOut:
    """Where a label points. Its ETag goes into `If-Match` of the move."""
    return _label(name, *labels.get(scope, name=name, label=label), response)


@router.put("/{label}")
def move_label(
    name: str, label: str, body: LabelIn, scope: ScopeDep, response: Response, if_match: IfMatch = None, if_new: IfNew = None
) -> LabelOut:
    """Point a label at a version. 412 where the label exists and `If-Match` is not its ETag."""
    facts = {"revision": _revision(if_match), "new": if_new is not None, "reason": body.reason}
    return _label(name, *labels.move(scope, name=name, label=label, number=body.number, **facts), response)


@router.delete("/{label}", status_code=204)
def remove_label(
    name: str, label: str, scope: ScopeDep, if_match: IfMatch = None, reason: Annotated[Message, Query()] = ""
) -> None:
    """Take a label away: nothing is served under it any more. Its history stays. 412 where `If-Match` is not its ETag."""
    labels.remove(scope, name=name, label=label, revision=_revision(if_match), reason=reason)


@router.get("/{label}/history")
def list_label_moves(name: str, label: str, scope: ScopeDep, page: MovePage) -> Page[LabelMoveOut]:
    """Every move of a label, newest first; of one that is removed too."""
    return page.page(labels.history(scope, page.start, name=name, label=label), item=LabelMoveOut.of)


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
