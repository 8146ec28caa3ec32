"""Bodies of evaluation sets."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from api.schemas.base import Body, Json, Name
from skillhub.evaluation.cases import CaseInput
from skillhub.models import Case
from skillhub.services.suites import StoredSuite

MAX_CASES = 5000
MAX_SPEC_CHARACTERS = 16_000


def _small(spec: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(spec, ensure_ascii=False)) > MAX_SPEC_CHARACTERS:
        raise ValueError(f"longer than {MAX_SPEC_CHARACTERS} characters")
    return spec


Split = Literal["train", "dev", "test", "confirm"]
Spec = Annotated[Json, AfterValidator(_small)]


class CaseIn(Body):
    key: Name
    split: Split
    slice: Name
    spec: Spec


class SuiteIn(Body):
    cases: list[CaseIn] = Field(min_length=1, max_length=MAX_CASES)

    def inputs(self) -> list[CaseInput]:
        return [CaseInput(**case.model_dump()) for case in self.cases]


class CaseOut(BaseModel):
    id: str
    key: str
    split: str
    slice: str
    spec: dict[str, Any]

    @classmethod
    def of(cls, case: Case) -> "CaseOut":
        return cls(**case.model_dump(exclude={"workspace_id", "suite_id"}))


class SuiteOut(BaseModel):
    id: str
    name: str
    content_sha256: str
    cases: int
    created_at: datetime

    @classmethod
    def of(cls, stored: StoredSuite) -> "SuiteOut":
        suite = stored.suite
        return cls(**suite.model_dump(exclude={"workspace_id"}), cases=stored.cases)
