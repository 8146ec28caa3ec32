"""Bodies of evaluation sets."""

import json
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from api.schemas.skills import Body, Text
from skillhub.evaluation.cases import CaseInput
from skillhub.services.suites import StoredSuite

MAX_CASES = 5000
MAX_SPEC_CHARACTERS = 16_000
_UNSTORABLE = re.compile(r"\\u0000|[\ud800-\udfff]")


def _storable(spec: dict[str, Any]) -> dict[str, Any]:
    """Small, and nothing in it that JSON or PostgreSQL cannot hold."""
    try:
        text = json.dumps(spec, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValueError("NaN and infinity are not JSON") from error
    if len(text) > MAX_SPEC_CHARACTERS:
        raise ValueError(f"longer than {MAX_SPEC_CHARACTERS} characters")
    if _UNSTORABLE.search(text):
        raise ValueError("a NUL character or half a surrogate pair cannot be stored")
    return spec


Name = Annotated[Text, Field(min_length=1, max_length=200)]
Spec = Annotated[dict[str, Any], AfterValidator(_storable)]


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
