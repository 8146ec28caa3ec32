"""Values -> HTML. Everything stored is text here: escaped, never parsed as Markdown or HTML, hidden characters made visible."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from skillhub.services.lineage import Origin

FOLDER = Path(__file__).parent
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_HEADING = re.compile(r"(#{1,6})[ \t]")
_LINES = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Line:
    """One line of a document as the page shows it."""

    number: int
    text: str
    style: str
    """Class of the line: `head`, `h1` to `h6`, `text`."""
    proofs: list[int]
    """Positions of the sentences that start on it, from 1."""


def inert(value: object) -> Markup:
    """Escaped text in which characters that hide or reorder others are shown by their code point."""
    pieces: list[Markup] = []
    at = 0
    text = str(value)
    for match in _HIDDEN.finditer(text):
        pieces += [
            escape(text[at : match.start()]),
            Markup('<span class="hidden-character">U+{:04X}</span>').format(ord(match[0])),
        ]
        at = match.end()
    return Markup("").join([*pieces, escape(text[at:])])


def document_lines(document: str, *, body_line: int, origins: list[Origin]) -> Iterator[Line]:
    """The document line by line, each with the sentences that start there."""
    starts: dict[int, list[int]] = {}
    for position, origin in enumerate(origins, start=1):
        starts.setdefault(origin.sentence.line, []).append(position)
    for number, text in enumerate(_LINES.split(document), start=1):
        yield Line(number, text, _style(text, number < body_line), starts.get(number, []))


def _style(text: str, in_head: bool) -> str:
    heading = _HEADING.match(text)
    return "head" if in_head else f"h{len(heading[1])}" if heading else "text"


def number(value: Any) -> str:
    """A number as a person reads it: three decimals, large and tiny ones in powers of ten."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    if isinstance(value, int):
        return str(value)
    return f"{value:.3f}" if value == 0 or 0.001 <= abs(value) < 100_000 else f"{value:.2e}"


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def moment(value: Any) -> str:
    """A UTC time to the minute."""
    return value.strftime("%Y-%m-%d %H:%M") if value else "–"


def environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    env.filters |= {"inert": inert, "number": number, "pretty": pretty, "moment": moment}
    return env
