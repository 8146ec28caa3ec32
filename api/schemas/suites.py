"""Bodies of evaluation sets."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from api.schemas.base import Body, Json, Name
from skillhub.evaluation.cases import CaseInput
from skillhub.services.suites import StoredSuite

MAX_CASES = 5000
MAX_SPEC_CHARACTERS = 16_000


def _small(spec: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(spec, ensure_ascii=False)) > MAX_SPEC_CHARACTERS:
        raise ValueError(f"longer than {MAX_SPEC_CHARACTERS} characters")
    return spec


Spec = Annotated[Json, AfterValidator(_small)]


class CaseIn(Body):
    key: Name
    split: Literal["train", "dev", "test", "confirm"]
    slice: Name
    spec: Spec


class SuiteIn(Body):
    cases: list[CaseIn] = Field(min_length=1, max_length=MAX_CASES)

    def inputs(self) -> list[CaseInput]:
        return [CaseInput(**case.model_dump()) for case in self.cases]


class SuiteOut(BaseModel):
    id: str
    name: str
    content_sha256: str
    cases: int

    @classmethod
    def of(cls, stored: StoredSuite) -> "SuiteOut":
        suite = stored.suite
        return cls(id=suite.id, name=suite.name, content_sha256=suite.content_sha256, cases=stored.cases)
