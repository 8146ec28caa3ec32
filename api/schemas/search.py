"""Bodies of the search and context routes."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from api.schemas.base import Body, Text
from api.schemas.skills import Kind
from skillhub.models import Context
from skillhub.services.labels import PRODUCTION

MAX_QUERY = 20_000
MAX_TASKS = 512
MAX_TOKEN_BUDGET = 1_000_000


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Query = Annotated[str, Field(max_length=MAX_QUERY), AfterValidator(_filled)]
LabelName = Annotated[Text, Field(max_length=36)]
MinSeq = Annotated[int | None, Field(ge=0, le=2**63 - 1, description="Wait until the index has reached this event")]


class SearchIn(Body):
    query: Query
    k: int = Field(default=10, ge=1, le=100)
    kind: Kind | None = None
    label: LabelName = PRODUCTION
    min_seq: MinSeq = None
    explain: bool = False


class PartsOut(BaseModel):
    """What each station said of a hit; null where it did not see it."""

    dense: float | None = Field(description="Cosine of query and version")
    lexical: float | None = Field(description="BM25")
    fused: float = Field(description="Reciprocal rank fusion of both rankings")


class HitOut(BaseModel):
    version_id: str
    skill: str
    kind: str
    number: int
    description: str
    rank: int
    score: float
    parts: PartsOut | None = None


class SearchOut(BaseModel):
    hits: list[HitOut]
    seq: int = Field(description="Event the index had reached")
    reranked: bool | None = Field(default=None, description="With `explain`: whether a cross-encoder made the order")


class ContextsIn(Body):
    tasks: list[Query] = Field(min_length=1, max_length=MAX_TASKS)
    k: int = Field(default=3, ge=1, le=50)
    token_budget: int = Field(default=2000, ge=1, le=MAX_TOKEN_BUDGET)
    label: LabelName = PRODUCTION
    min_seq: MinSeq = None


class OmittedOut(BaseModel):
    """A version that was found and did not fit the budget."""

    version_id: str
    skill: str
    kind: str
    number: int
    rank: int
    score: float


class EntryOut(OmittedOut):
    """A version that is shown."""

    document: str


class ContextOut(BaseModel):
    context_id: str
    task: str = Field(description="The task as it is kept, without credentials")
    text: str = Field(description="What to show the policy")
    entries: list[EntryOut]
    tokens: int = Field(description="Estimated cost of the text, at most the budget")
    omitted: list[OmittedOut]


class ShownEntryOut(BaseModel):
    """A version that was shown."""

    version_id: str
    skill: str
    number: int
    rank: int
    score: float


class KeptContextOut(BaseModel):
    """A context as it was shown."""

    id: str
    task: str
    label: str
    token_budget: int
    entries: list[ShownEntryOut]
    text: str
    text_sha256: str
    seq: int = Field(description="Event the index had reached")
    created_at: datetime

    @classmethod
    def of(cls, context: Context) -> "KeptContextOut":
        return cls.model_validate(context.model_dump())


class ContextsOut(BaseModel):
    contexts: list[ContextOut]
    seq: int = Field(description="Event the index had reached")
