"""Document -> its sections by heading path, and its sentences and list items with their lines.

A section's anchor is the path of its headings, e.g. `steps` or `steps/boiling`. The one `#` title at the top is a section of
its own, not the parent of what follows, so renaming a skill's title moves no anchor. What stands before the first heading has
the empty anchor. All of it takes time in proportion to the text, whatever the text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from skillhub.documents.skillmd import Document

_MARKDOWN = MarkdownIt("commonmark").disable("inline")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")


@dataclass(frozen=True)
class Section:
    """One heading and what stands under it. Lines count from 1 in the file; ends are exclusive."""

    anchor: str
    title: str
    level: int
    """1 to 6; 0 for what stands before the first heading."""
    first_line: int
    """Line of the heading."""
    content_line: int
    """First line below the heading."""
    content_end: int
    """Where the next heading of any level starts."""
    end: int
    """Where the section with all its subsections ends; the title has none."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paragraph, or a list item, as it stands in the document without its marker."""

    line: int
    text: str
    anchor: str


def lines(text: str) -> list[str]:
    """The lines with their line breaks; joined they give the text again."""
    return _LINE.findall(text)


def newline(text: str) -> str:
    """The line break that a SKILL.md uses: its first."""
    return re.search(r"\r\n|\r|\n", text).group()


def sections(document: Document) -> list[Section]:
    """All sections in the order they stand, the part before the first heading first."""
    return _sections(document, _MARKDOWN.parse(document.body))


def sentences(document: Document) -> list[Sentence]:
    """What can be true or false in a document: each sentence of its paragraphs and each list item."""
    tokens = _MARKDOWN.parse(document.body)
    parts = _sections(document, tokens)
    starts = [part.first_line for part in parts]
    found: list[Sentence] = []
    for token, in_list in _texts(tokens):
        line = document.body_line + token.map[0]
        anchor = parts[bisect_right(starts, line) - 1].anchor
        found += [Sentence(line + at, text, anchor) for at, text in _split(token.content, whole=in_list)]
    return found


def normalised(text: str) -> str:
    """The text with runs of white space as one space: how sentences are compared."""
    return " ".join(text.split())


def states(sentence: str, claim: str) -> bool:
    """Whether a claim is about this sentence: its words stand in it, white space apart."""
    return bool(claim.strip()) and normalised(claim) in normalised(sentence)


def _sections(document: Document, tokens: Sequence[Token]) -> list[Section]:
    heads = [(t, tokens[i + 1].content) for i, t in enumerate(tokens) if t.type == "heading_open" and t.level == 0]
    levels = [int(token.tag[1]) for token, _ in heads]
    first = [document.body_line + token.map[0] for token, _ in heads]
    ends = [*first, document.body_line + len(lines(document.body))]
    anchors = _anchors([title for _, title in heads], levels)
    has_title = _has_title(levels)
    found = [Section("", "", 0, document.body_line, document.body_line, ends[0], ends[0])]
    for i, (token, title) in enumerate(heads):
        below = i + 1 if i == 0 and has_title else _next_above(levels, i)
        content = document.body_line + token.map[1]
        found.append(Section(anchors[i], title, levels[i], first[i], content, ends[i + 1], ends[below]))
    return found


def _has_title(levels: Sequence[int]) -> bool:
    return levels[:1] == [1] and levels.count(1) == 1


def _next_above(levels: Sequence[int], i: int) -> int:
    """The next heading that is not below heading `i`."""
    return next((j for j in range(i + 1, len(levels)) if levels[j] <= levels[i]), len(levels))


def _anchors(titles: Sequence[str], levels: Sequence[int]) -> list[str]:
    has_title = _has_title(levels)
    path: list[tuple[int, str]] = []
    found: dict[str, int] = {}
    for title, level in zip(titles, levels, strict=True):
        path = [(upper, part) for upper, part in path if upper < level]
        parents = [part for upper, part in path if not (has_title and upper == 1)]
        anchor = _free("/".join([*parents, _slug(title)]), found)
        path.append((level, anchor.rpartition("/")[2]))
    return list(found)


def _free(anchor: str, found: dict[str, int]) -> str:
    """The anchor, or the first of `anchor-2`, `anchor-3`, ... that is not taken. Takes it; `found` counts the uses of each."""
    free = anchor
    while free in found:
        found[anchor] += 1
        free = f"{anchor}-{found[anchor]}"
    found[free] = 1
    return free


def _slug(title: str) -> str:
    words = re.sub(r"[^\w]+|_+", "-", unicodedata.normalize("NFKC", title).lower()).strip("-")
    return words[:64].strip("-") or "section"


def _texts(tokens: Sequence[Token]) -> list[tuple[Token, bool]]:
    """Paragraphs, each with whether it stands in a list; headings and code are not claims."""
    found: list[tuple[Token, bool]] = []
    depth = 0
    for i, token in enumerate(tokens):
        if token.type == "list_item_open":
            depth += 1
        elif token.type == "list_item_close":
            depth -= 1
        elif token.type == "inline" and tokens[i - 1].type == "paragraph_open":
            found.append((token, depth > 0))
    return found


def _split(text: str, *, whole: bool) -> list[tuple[int, str]]:
    """`(lines below the first, sentence)`."""
    if whole:
        return [(0, text)]
    found: list[tuple[int, str]] = []
    line = at = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        found.append((line, text[at:end].rstrip()))
        line += text.count("\n", at, end)
        at = end
    return found
