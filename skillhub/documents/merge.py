"""Two versions and the one both come from -> one with the changes of both; what contradicts is named, never guessed.

Parts are merged whole, by name: fields of the frontmatter and entries of `metadata`, sections by anchor, bundled files by path.
What only one side changed is taken, what both changed apart is a conflict. Blank lines between sections are no change of a
section. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from skillhub.documents.archive import Content
from skillhub.documents.parts import field_texts, section_texts
from skillhub.documents.sections import newline
from skillhub.documents.skillmd import Document, parse
from skillhub.errors import Fault, Invalid, MergeConflict

T = TypeVar("T")
_ABSENT, _CLASH = object(), object()
_BLANK = " \t\r\n"


def merge(base: Content, left: Content, right: Content) -> Content:
    """The content with the changes that both sides made to `base`.

    Raises `MergeConflict` with a fault for each part changed apart: `/frontmatter/<field>`, `/sections/<anchor>`,
    `/files/<path>`; or `/document`, where the parts put together would not be read as those parts.
    """
    documents = [parse(side.document) for side in (base, left, right)]
    fields, in_fields = merge_parts(*map(field_texts, documents), place="/frontmatter")
    bodies = [_Body.of(document) for document in documents]
    sections, in_sections = merge_parts(*(body.texts for body in bodies), place="/sections")
    files, in_files = merge_parts(*({file.path: file for file in side.files} for side in (base, left, right)), place="/files")
    if faults := [*in_fields, *in_sections, *in_files]:
        raise MergeConflict(faults)
    document = "".join(fields.values()) + _joined(sections, bodies, newline(base.document))
    _check(document, sections)
    return Content(document, list(files.values()))


def merge_parts(
    base: Mapping[str, T], left: Mapping[str, T], right: Mapping[str, T], *, place: str
) -> tuple[dict[str, T], list[Fault]]:
    """The parts with the changes of both sides, in the order of the side that moved any; and what contradicts."""
    chosen = {key: _choose(key, base=base, left=left, right=right) for key in {**base, **left, **right}}
    faults = [_clash(key, left, right, place) for key, value in chosen.items() if value is _CLASH]
    order = _order(list(base), list(left), list(right))
    if order is None:
        faults.append({"path": place, "message": "both sides moved parts, each in its own way"})
    return {key: chosen[key] for key in order or () if chosen[key] is not _ABSENT}, faults


def _choose(key: str, *, base: Mapping[str, T], left: Mapping[str, T], right: Mapping[str, T]) -> object:
    before, ours, theirs = (side.get(key, _ABSENT) for side in (base, left, right))
    if ours == theirs or theirs == before:
        return ours
    return theirs if ours == before else _CLASH


def _clash(key: str, left: Mapping[str, T], right: Mapping[str, T], place: str) -> Fault:
    ours, theirs = ("changed it" if key in side else "removed it" for side in (left, right))
    return {"path": f"{place}/{key}", "message": f"left {ours}, right {theirs}"}


def _order(base: Sequence[str], left: Sequence[str], right: Sequence[str]) -> list[str] | None:
    """None where both sides moved parts."""
    if left == right or right == base:
        return list(left)
    if left == base:
        return list(right)
    if _moved(base, left) and _moved(base, right):
        return None
    return _woven(left, right) if _moved(base, left) else _woven(right, left)


def _moved(base: Sequence[str], side: Sequence[str]) -> bool:
    kept = set(base) & set(side)
    return [key for key in base if key in kept] != [key for key in side if key in kept]


def _woven(leader: Sequence[str], other: Sequence[str]) -> list[str]:
    """The leader's order, with what only the other has after what precedes it there."""
    order = list(leader)
    known = set(order)
    for at, key in enumerate(other):
        if key not in known:
            order.insert(order.index(other[at - 1]) + 1 if at else 0, key)
            known.add(key)
    return order


@dataclass(frozen=True)
class _Body:
    """The sections of one side, apart from the blank lines that end them."""

    texts: dict[str, str]
    gaps: dict[str, str]
    """What stands between a section and the next; the last one has none."""
    tail: str
    """What stands below the last section: how the text ends."""

    @classmethod
    def of(cls, document: Document) -> "_Body":
        wholes = section_texts(document)
        texts = {anchor: whole.rstrip(_BLANK) for anchor, whole in wholes.items()}
        gaps = {anchor: whole[len(texts[anchor]) :] for anchor, whole in wholes.items()}
        return cls(texts, gaps, gaps.pop(next(reversed(gaps))))


def _joined(sections: Mapping[str, str], bodies: Sequence[_Body], line_break: str) -> str:
    ends = [_gap(anchor, text, bodies, line_break) for anchor, text in sections.items()]
    base, left, right = (body.tail for body in bodies)
    ends[-1:] = [left if right == base else right]
    return "".join(chain.from_iterable(zip(sections.values(), ends, strict=True)))


def _gap(anchor: str, text: str, bodies: Sequence[_Body], line_break: str) -> str:
    """What stands below a section that is not the last: what a side made of it, else a blank line."""
    base, left, right = (body.gaps.get(anchor) for body in bodies)
    chosen = left if right in (None, base) else right
    if chosen is not None:
        return chosen
    return line_break * 2 if text else ""


def _check(document: str, sections: Mapping[str, str]) -> None:
    """Refuse what would be read as other sections: an open code fence that swallows what follows, an orphan of a heading."""
    try:
        found = _Body.of(parse(document)).texts
    except Invalid as error:
        raise MergeConflict([{"path": "/document", "message": f"put together it is not valid: {error.detail}"}]) from error
    if list(found.items()) != list(sections.items()):
        lost = ", ".join(repr(anchor) for anchor in sections if found.get(anchor) != sections[anchor]) or "their order"
        raise MergeConflict([{"path": "/document", "message": f"put together, sections would be read as others: {lost}"}])
