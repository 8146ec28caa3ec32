"""Three versions of named parts -> one: what only one side changed is taken, what both changed apart is a conflict.

Parts are a mapping in order: sections by anchor, metadata by key or bundled files by path. Pure; values are kept as they are.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from skillhub.documents.sections import lines, sections
from skillhub.documents.skillmd import Document
from skillhub.errors import Conflict

T = TypeVar("T")
_ABSENT = object()


def section_texts(document: Document) -> dict[str, str]:
    """Each section's own text by anchor, heading included and subsections not; joined they give the body again."""
    rows = lines(document.body)
    start = document.body_line
    return {part.anchor: "".join(rows[part.first_line - start : part.content_end - start]) for part in sections(document)}


def merge_parts(base: Mapping[str, T], left: Mapping[str, T], right: Mapping[str, T]) -> dict[str, T]:
    """The parts with the changes of both sides, in the order of the side that moved any.

    Raises `Conflict` that names each part changed differently on both sides, with what each side says.
    """
    chosen = {key: _choose(key, base=base, left=left, right=right) for key in {**base, **left, **right}}
    clashes = [key for key, value in chosen.items() if value is Conflict]
    if clashes:
        raise Conflict("; ".join(_clash(key, left, right) for key in clashes), code="merge_conflict")
    order = _order(list(base), list(left), list(right))
    return {key: chosen[key] for key in order if chosen[key] is not _ABSENT}


def _choose(key: str, *, base: Mapping[str, T], left: Mapping[str, T], right: Mapping[str, T]) -> object:
    before, ours, theirs = (side.get(key, _ABSENT) for side in (base, left, right))
    if ours == theirs or theirs == before:
        return ours
    return theirs if ours == before else Conflict


def _clash(key: str, left: Mapping[str, T], right: Mapping[str, T]) -> str:
    ours, theirs = (repr(side[key]) if key in side else "removed" for side in (left, right))
    return f"{key!r}: left says {ours}, right says {theirs}"


def _order(base: Sequence[str], left: Sequence[str], right: Sequence[str]) -> list[str]:
    if left == right or right == base:
        return list(left)
    if left == base:
        return list(right)
    if _moved(base, left) and _moved(base, right):
        raise Conflict("Both sides moved parts, each in its own way", code="merge_conflict")
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
