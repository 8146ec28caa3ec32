"""The two kinds of models. Unknown fields of an answer are kept, so a newer server does not break this client."""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Input(BaseModel):
    """Something sent to the server."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """Something the server said."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Page(Answer, Generic[T]):
    """One page of a list; `next_cursor` is None on the last."""

    items: list[T]
    next_cursor: str | None = None
