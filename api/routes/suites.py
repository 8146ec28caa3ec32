"""Evaluation sets."""

from typing import Annotated

from fastapi import APIRouter, Path

from api.deps import ScopeDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Name, Word
from api.schemas.suites import CaseOut, Split, SuiteIn, SuiteOut
from skillhub.services import suites
from skillhub.store import suites as rows

router = APIRouter(prefix="/v1/suites", tags=["suites"])


SuitePage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="name")]
CasePage = Annotated[PageQuery, sorted_by(rows.CASE_ORDERS, default="key")]


@router.get("")
def list_suites(scope: ScopeDep, page: SuitePage, created: CreatedDep, prefix: Word | None = None) -> Page[SuiteOut]:
    """Evaluation sets by name."""
    found = suites.page(scope, page.start, prefix=prefix, **created)
    return page.page(found, row=lambda stored: stored.suite, item=SuiteOut.of)


@router.get("/{name}")
def get_suite(name: str, scope: ScopeDep) -> SuiteOut:
    """A suite and how many cases it has."""
    return SuiteOut.of(suites.get(scope, name))


@router.get("/{name}/cases")
def list_cases(
    name: str, scope: ScopeDep, page: CasePage, split: Split | None = None, slice: Word | None = None
) -> Page[CaseOut]:
    """The cases of a suite by key."""
    return page.page(suites.case_page(scope, page.start, name=name, split=split, slice=slice), item=CaseOut.of)


@router.put("/{name}")
def put_suite(name: Annotated[Name, Path()], body: SuiteIn, scope: ScopeDep) -> SuiteOut:
    """Store a suite, or add cases to it. 409 where a stored case would change or vanish, 422 for one task in two splits."""
    return SuiteOut.of(suites.put(scope, name=name, cases=body.inputs()))
