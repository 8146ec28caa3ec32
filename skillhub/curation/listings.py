"""Answers that name several things -> the things, and the steps that go through them marked as one step for each.

Only what an episode was told before it acted counts; what is learned is the word after which the things are named.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillhub.curation.phrases import Move, content
from skillhub.rollouts.trace import Trace

ITEM = "{item}"
_ENUMERATION = re.compile(r"([^.,:;()\n]+(?:, [^.,:;()\n]+)+)\.?$")
_SUPPORT = 2


@dataclass(frozen=True)
class Listing:
    """What the episodes read: after which word things are named, and which of them need no step of their own."""

    lead: str
    items: Mapping[int, tuple[str, ...]]
    """Episode number -> the things named."""
    at: Mapping[int, int]
    """Episode number -> the step that read them."""
    apart: tuple[str, ...] = ()


def named_after(lead: str, answer: str) -> tuple[str, ...]:
    """The things that the end of an answer names after the word `lead`: `... to mix salt, water.` -> salt, water."""
    found = _ENUMERATION.search(answer.strip())
    _, met, rest = f" {found[1]}".partition(f" {lead} ") if found else ("", "", "")
    return tuple(item.strip() for item in rest.split(", ")) if met else ()


def listing(traces: Sequence[Trace], moves: Sequence[Sequence[Move]]) -> Listing | None:
    """The enumeration that most episodes read and then worked through; None where there is none."""
    votes: Counter[str] = Counter()
    for trace, acts in zip(traces, moves, strict=True):
        votes.update(_leads(trace, acts))
    lead, gain = max(votes.items(), key=lambda v: (v[1], v[0]), default=("", 0))
    at = {e: i for e, trace in enumerate(traces) if (i := _first_read(lead, trace)) is not None}
    if gain < _SUPPORT or 2 * len(at) < len(traces):
        return None
    items = {e: named_after(lead, answer(traces[e], i)) for e, i in at.items()}
    return Listing(lead, items, at, _apart(items, at, moves))


def for_each(found: Listing | None, episode: int, moves: Sequence[Move]) -> list[Move]:
    """The moves of an episode with the things it had read of replaced by `{item}`."""
    if found is None or episode not in found.at:
        return list(moves)
    things = {content(item) for item in found.items[episode]} - {content(item) for item in found.apart}
    return [_marked(m, things) if i > found.at[episode] else m for i, m in enumerate(moves)]


def answer(trace: Trace, step: int) -> str:
    """What the simulator answered to a step (nothing is known of the last one's)."""
    return trace.steps[step + 1].observation.split("\n\n")[0] if step + 1 < len(trace.steps) else ""


def _marked(move: Move, things: set[frozenset[str]]) -> Move:
    return replace(move, args=tuple(ITEM if content(a) in things else a for a in move.args))


def _leads(trace: Trace, moves: Sequence[Move]) -> dict[str, int]:
    """Words after which an answer enumerates -> how many of the things named are acted on later, less how many are not."""
    leads: dict[str, int] = {}
    for i in range(len(trace.steps)):
        found = _ENUMERATION.search(answer(trace, i).strip())
        later = {content(a) for m in moves[i + 1 :] for a in m.args} if found else set()
        for word in dict.fromkeys(found[1].replace(",", "").split()) if found else ():
            named = [content(item) in later for item in named_after(word, found[1])]
            if len(named) > 1 and any(named):
                leads.setdefault(word, 2 * sum(named) - len(named))
    return leads


def _first_read(lead: str, trace: Trace) -> int | None:
    return next((i for i in range(len(trace.steps)) if named_after(lead, answer(trace, i))), None)


def _apart(items: Mapping[int, tuple[str, ...]], at: Mapping[int, int], moves: Sequence[Sequence[Move]]) -> tuple[str, ...]:
    """Things that were named, but never acted on by that name."""
    used = {e: {content(a) for m in moves[e][at[e] + 1 :] for a in m.args} for e in items}
    met = {item for e, named in items.items() for item in named if content(item) in used[e]}
    return tuple(sorted({item for named in items.values() for item in named} - met))
