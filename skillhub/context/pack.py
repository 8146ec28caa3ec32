"""Ranked documents -> the text a policy reads, under a token budget. Equal input gives equal bytes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SEPARATOR = "\n\n"
_CLOSING = re.compile(r"</(skill|rule|harness)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Piece:
    """A document that was chosen for a task."""

    version_id: str
    skill: str
    kind: str
    number: int
    rank: int
    """1 for the best."""
    score: float
    document: str
    """SKILL.md as published."""
    body: str
    """Its Markdown without the frontmatter; what is rendered."""


@dataclass(frozen=True)
class Packed:
    """A rendered context."""

    text: str
    tokens: int
    """Cost of `text` by the counter that was given; never above the budget."""
    shown: tuple[Piece, ...]
    omitted: tuple[Piece, ...]
    """Pieces that did not fit."""


def pack(pieces: Sequence[Piece], *, token_budget: int, count_tokens: Callable[[str], int]) -> Packed:
    """Render the pieces by rank; one that does not fit is left out whole, and a later, shorter one may still be shown."""
    shown: list[Piece] = []
    omitted: list[Piece] = []
    text, tokens = "", 0
    for piece in sorted(pieces, key=lambda piece: piece.rank):
        longer = _SEPARATOR.join(part for part in (text, render(piece)) if part)
        cost = count_tokens(longer)
        if cost > token_budget:
            omitted.append(piece)
        else:
            shown.append(piece)
            text, tokens = longer, cost
    return Packed(text, tokens, tuple(shown), tuple(omitted))


def render(piece: Piece) -> str:
    """One document between tags that name it. A closing tag inside is defused: no document ends its own frame."""
    body = _CLOSING.sub(r"<\\/\1", piece.body.strip())
    return f'<{piece.kind} name="{piece.skill}" version="{piece.number}">\n{body}\n</{piece.kind}>'
