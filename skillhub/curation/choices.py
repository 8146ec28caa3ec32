"""What was chosen in each episode -> a named choice: its options in order of preference, or what they depend on."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillhub.curation.phrases import content, first_seen, mentions
from skillhub.rollouts.trace import Trace

_MOST = 0.75
_LINKING = frozenset({"in", "on", "of", "containing", "with"})


@dataclass(frozen=True)
class Choice:
    """A value that varies over episodes and does not stand in the task text."""

    name: str
    term: str
    """The noun phrase in which it stands: `{wire} terminal 1`, or `{name}` alone."""
    values: Mapping[int, str]
    """Episode number -> what was chosen."""
    at: Mapping[int, int]
    """Episode number -> the step that chose."""
    options: tuple[str, ...]
    """Best first, where `ranked`."""
    ranked: bool = False
    """The order was learned: earlier options won where later ones were in sight."""
    table: tuple[tuple[str, str, str], ...] = ()
    """(slot, value of the slot, option) where the task text decides."""
    holds: str = ""
    """Name of an earlier choice that lies inside this one."""


def choose(
    name: str,
    *,
    term: str,
    values: Mapping[int, str],
    at: Mapping[int, int],
    traces: Mapping[int, Trace],
    slots: Mapping[int, Mapping[str, str]],
    others: Sequence[Choice],
) -> Choice:
    """Explain the values by a container relation, a slot of the task text, or a preference (in this order)."""
    seen = {e: traces[e].steps[i].observation for e, i in at.items()}
    short = _without_shared_openings(values)
    options, ranked = _preference(short, seen)
    return Choice(
        name=name,
        term=term,
        values=values,
        at=at,
        options=tuple(options),
        ranked=ranked,
        table=_table(short, slots),
        holds=_contained(values, seen, others),
    )


def _without_shared_openings(values: Mapping[int, str]) -> dict[int, str]:
    """Drop an opening word that goes with different things ("adult", "egg", "baby"): it does not tell options apart."""
    follows: dict[str, set[str]] = defaultdict(set)
    for value in values.values():
        first, _, rest = value.partition(" ")
        follows[first].add(rest)
    return {e: _shorter(v) if len(follows[v.split(" ")[0]]) > 1 else v for e, v in values.items()}


def _shorter(value: str) -> str:
    """Without the first word, where what is left can still be a name."""
    rest = value.split()[1:]
    return " ".join(rest) if rest and rest[0].isalpha() and content(rest[0]) - _LINKING else value


def _preference(values: Mapping[int, str], seen: Mapping[int, str]) -> tuple[list[str], bool]:
    """Order options by how often each was taken while others were in sight; `ranked` when the order is nowhere broken."""
    options = first_seen(v for _, v in sorted(values.items()))
    beats: Counter[tuple[str, str]] = Counter()
    for e, chosen in values.items():
        beats.update((chosen, o) for o in options if o != chosen and mentions(seen[e], o))
    broken = sum(1 for pair in beats if pair[::-1] in beats)
    wins = _reach(options, beats)
    counts = Counter(values.values())
    ordered = sorted(options, key=lambda o: (-wins[o], -counts[o], o))
    return ordered, bool(beats) and broken == 0


def _reach(options: Sequence[str], beats: Counter[tuple[str, str]]) -> dict[str, int]:
    """For each option: how many it beats, directly or through others, less how many beat it."""
    above = {o: {b for a, b in beats if a == o} for o in options}
    for middle in options:
        for o in options:
            if middle in above[o]:
                above[o] |= above[middle]
    return {o: len(above[o] - {o}) - sum(o in above[p] for p in options if p != o) for o in options}


def _table(values: Mapping[int, str], slots: Mapping[int, Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """The slot whose values go with different options, if there is one that is borne out by repeated values."""
    best: tuple[int, tuple[tuple[str, str, str], ...]] = (1, ())
    for slot in sorted({s for v in slots.values() for s in v}):
        taken: dict[str, set[str]] = defaultdict(set)
        for e, value in sorted(values.items()):
            taken[slots[e].get(slot, "").lower()].add(value)
        repeats = len(values) - len(taken)
        repeated = 1 < len(taken) <= len(values) / 3 and _are_disjoint(list(taken.values()))
        decided = repeated or all(len(v) == 1 for v in taken.values())
        if repeats > best[0] and decided:
            rows = ((slot, given, option) for given, options in sorted(taken.items()) for option in sorted(options))
            best = (repeats, tuple(rows))
    return best[1]


def _are_disjoint(groups: Sequence[set[str]]) -> bool:
    return len(set().union(*groups)) == sum(len(g) for g in groups)


def _contained(values: Mapping[int, str], seen: Mapping[int, str], others: Sequence[Choice]) -> str:
    """The earlier choice that stands between this one's brackets in what was seen: `pot 3 (containing a fern)`."""
    for other in others:
        joint = [e for e in values if e in other.values]
        inside = sum(_lies_in(seen[e], values[e], other.values[e]) for e in joint)
        if joint and len(joint) > 1 and inside >= _MOST * len(joint):
            return other.name
    return ""


def _lies_in(text: str, outer: str, inner: str) -> bool:
    for line in text.splitlines():
        held = re.search(rf"\b{re.escape(outer)} \(containing (.*)\)", line)
        if held and len(content(inner) & content(held[1])) >= min(2, len(content(inner))):
            return True
    return False
