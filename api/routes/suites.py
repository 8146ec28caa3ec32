"""Evaluation sets."""

from typing import Annotated

from fastapi import APIRouter, Path

from api.deps import ScopeDep
from api.schemas.suites import SuiteIn, SuiteOut
from skillhub.services import suites

router = APIRouter(prefix="/v1/suites", tags=["suites"])


@router.put("/{name}")
def put_suite(name: Annotated[str, Path(min_length=1, max_length=200)], body: SuiteIn, scope: ScopeDep) -> SuiteOut:
    """Store a suite, or add cases to it. 409 where a stored case would change or vanish, 422 for one task in two splits."""
    return SuiteOut.of(suites.put(scope, name=name, cases=body.inputs()))
