"""What every body is made of: strict values, and texts that UTF-8 and PostgreSQL can hold.

JSON can carry what they cannot: a NUL, and half a surrogate pair. Both are refused with their path by the types below, so no
route and no use case has to think of them. Every text of a body is one of these types; a test watches over it.
"""

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from skillhub.safety.text import storable

MAX_DEPTH = 8

Place = tuple[str | int, ...]


class Body(BaseModel):
    """What a caller sends; a field we do not know is an error, and so is a value that would have to be converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


_TEXT_PATTERN = r"^[^\x00]*$"
Text = Annotated[str, Field(pattern=_TEXT_PATTERN)]
"""Half a surrogate pair is refused by any pattern."""
_INVISIBLE = r"\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"
_EDGE = rf"[^\s{_INVISIBLE}]"
_NAME_PATTERN = rf"^{_EDGE}([^{_INVISIBLE}]*{_EDGE})?$"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=_NAME_PATTERN)]
"""What people tell things apart by: it looks the same wherever it is the same, so no white space at its ends and nothing
invisible."""
_HANDLE_PATTERN = r"^[a-z0-9][a-z0-9_.-]{0,63}$"
Handle = Annotated[str, Field(pattern=_HANDLE_PATTERN)]
"""A name that stands in addresses."""
PATTERNS = {
    _TEXT_PATTERN: "a NUL character cannot be stored",
    _NAME_PATTERN: "a name has no white space at its ends, and a NUL or another invisible character cannot be stored in it",
    _HANDLE_PATTERN: "must be a-z, 0-9, `_`, `.` or `-`, up to 64 of them, and begin with a letter or digit",
}
"""Pattern -> what is said of a text that does not fit it."""
Word = Annotated[str, Field(max_length=200)]
"""A value that a list is narrowed to."""
Mended = Annotated[str, BeforeValidator(lambda value: storable(value) if isinstance(value, str) else value)]
"""What an environment said: tool output holds such characters now and then, and nobody can ask it to say it again."""


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """The same value; else an error that pydantic puts at the very place inside."""
    for place, why in _faults(value, ()):
        fault = InitErrorDetails(type=PydanticCustomError("unstorable", why), loc=place, input=None)
        raise ValidationError.from_exception_data("Json", [fault])
    return value


def _faults(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str) and storable(value) != value:
        yield place, "a NUL character or half a surrogate pair cannot be stored"
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, "NaN and infinity are not JSON"
    elif isinstance(value, dict | list) and len(place) > MAX_DEPTH:
        yield place, f"nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _faults(key, (*place, storable(key)))
            yield from _faults(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, (*place, index))


def _written(value: Any) -> Any:
    """A number is no time, though it could be read as seconds since 1970."""
    if isinstance(value, int | float) or (isinstance(value, str) and not re.match(r"\d{4}-\d\d-\d\dT", value, re.ASCII)):
        raise ValueError("must be a time as in 2026-12-01T09:30:00Z")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_written), Field(strict=False)]
"""A point in time, with its zone."""

Json = Annotated[dict[str, Any], AfterValidator(_storable)]
"""A JSON object that can be stored."""
