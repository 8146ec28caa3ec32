"""Steps that differ by outcome -> conditional forms: a number read against a bound, or a sight, decides between slots."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillhub.curation.listings import answer
from skillhub.curation.phrases import Move, content, listed, parse
from skillhub.curation.template import Template
from skillhub.rollouts.trace import Trace

_ABOVE = re.compile(r"\b(above|over|more than|greater than|higher than)\b")
_BELOW = re.compile(r"\b(below|under|less than|lower than)\b")
_QUIET = frozenset({"go to", "teleport to", "look around", "look", "inventory", "task"})
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")


Groups = Sequence[tuple[Move, tuple[int, ...]]]
"""The two forms of a step, each with the episodes that took it."""
Values = Mapping[int, Mapping[str, str]]
"""Episode number -> slot -> value."""


@dataclass(frozen=True)
class Branch:
    """One conditional form of a step."""

    condition: str
    """`the last reading is above {number}` or `you see "..."`."""
    move: Move
    episodes: tuple[int, ...]
    negated: bool = False


def branches(
    moves: Mapping[int, Move],
    *,
    at: Mapping[int, int],
    traces: Mapping[int, Trace],
    slots: Values,
    template: Template,
) -> list[Branch]:
    """Two conditional forms where the episodes took two slots of the task text; empty where nothing tells them apart."""
    forms: dict[str, list[int]] = {}
    for e, move in sorted(moves.items()):
        forms.setdefault(move.args[-1] if move.args else "", []).append(e)
    if len(forms) != 2 or not all("{" in f for f in forms):
        return []
    groups = [(moves[es[0]], tuple(es)) for es in forms.values()]
    clauses = [_clause(template.text(), form) for form in forms]
    if all("{number" in c for c in clauses):
        return _by_reading(groups, clauses, at=at, traces=traces, slots=slots)
    if not all(clauses):
        return _by_comparison(groups, traces=traces, at=at, slots=slots)
    seen = {e: traces[e].steps[i].observation for e, i in at.items()}
    return _by_sight(groups, seen)


def presence(taken: Collection[int], slots: Values) -> str:
    """Which slot value decides whether a step is taken at all: `{count} is 4`.

    Only slots with few values, each met again and again, or one value met again, count: others may divide them by chance.
    """
    if len(taken) < 2 or len(taken) >= 0.75 * len(slots):
        return ""
    for slot in sorted({s for v in slots.values() for s in v}):
        values = {e: v.get(slot, "").lower() for e, v in slots.items()}
        inside = {v for e, v in values.items() if e in taken}
        outside = {v for e, v in values.items() if e not in taken}
        few = len(inside | outside) <= max(2, len(slots) / 3)
        if (few or len(inside) == 1) and outside and not inside & outside:
            return f"{{{slot}}} is {' or '.join(sorted(inside))}"
    return ""


def heard(at: Mapping[int, int], traces: Mapping[int, Trace]) -> str:
    """What all episodes that took a step had been told before it, and no other was told at all: `you read "..."`."""
    if len(at) < 2 or len(at) >= 0.75 * len(traces):
        return ""
    told = {e: _told(traces[e], until=at.get(e, len(traces[e].steps))) for e in traces}
    others = [p for e in traces if e not in at for p in told[e]]
    shared = set.intersection(*(set(told[e]) for e in at)) - set(others)
    news = [(act, phrase) for act, phrase in shared if any(act == other for other, _ in others)]
    if not news:
        return ""
    phrase = min(news, key=lambda p: (max(at[e] - told[e][p] for e in at), len(p[1]), p))[1]
    return f'you read "{phrase}"'


def _told(trace: Trace, *, until: int) -> dict[tuple[Move, str], int]:
    """Acts with the phrases of their answers -> the last step that brought them; walks and readings left out."""
    phrases = {}
    for i in range(min(until, len(trace.steps) - 1)):
        act = parse(trace.steps[i].action)
        if act.verb not in _QUIET and not any("door" in a.split() for a in act.args):
            phrases.update(((act, p), i) for p in listed(answer(trace, i)) if not _NUMBER.search(p) and '"' not in p)
    return phrases


def last_number(texts: Iterable[str]) -> float | None:
    """The last number in the answers read so far."""
    found = [n for text in texts for n in _NUMBER.findall(text)]
    return float(found[-1]) if found else None


def _clause(text: str, form: str) -> str:
    """The `If ...` part of the sentence that names the slot."""
    slot = re.search(r"\{[a-z0-9-]+\}", form)
    for sentence in re.split(r"(?<=\.) ", text):
        if slot and slot[0] in sentence and sentence.lower().startswith("if "):
            head, _, tail = sentence.partition(",")
            if slot[0] in tail:
                return head[3:]
    return ""


def _by_reading(
    groups: Groups, clauses: Sequence[str], *, at: Mapping[int, int], traces: Mapping[int, Trace], slots: Values
) -> list[Branch]:
    """Conditions on the last number read, where at least three quarters of the episodes bear them out."""
    made = []
    right = total = 0
    for (move, episodes), clause in zip(groups, clauses, strict=True):
        bound = re.search(r"\{(number[a-z0-9-]*)\}", clause)
        above = bool(_ABOVE.search(clause))
        if not bound or (not above and not _BELOW.search(clause)):
            return []
        for e in episodes:
            answers = [s.observation.split("\n\n")[0] for s in traces[e].steps[: at[e] + 1]]
            value = last_number(a for a in answers if not a.startswith("This "))
            limit = float(slots[e].get(bound[1], "nan"))
            right += value is not None and (value > limit) == above
            total += 1
        word = "above" if above else "below"
        made.append(Branch(f"the last reading is {word} {bound[0]}", move, episodes))
    return made if right >= 0.75 * total else []


def _by_comparison(groups: Groups, *, traces: Mapping[int, Trace], at: Mapping[int, int], slots: Values) -> list[Branch]:
    """Whether the form taken is the one with the greater (or the smaller) number read after acting on it."""
    found = [re.search(r"\{([a-z0-9-]+)\}", move.args[-1]) for move, _ in groups]
    names = [f[1] for f in found]
    signs: dict[int, str] = {}
    for side, (_, episodes) in enumerate(groups):
        for e in episodes:
            read = _readings(traces[e], at[e], [slots[e].get(n, "") for n in names])
            if None not in read and read[0] != read[1]:
                signs[e] = "greater" if (read[side] > read[1 - side]) else "smaller"
    relation = _relation(signs, slots)
    if not relation:
        return []
    (move, episodes), (else_move, else_episodes) = groups
    condition = f"the last reading for {{{names[0]}}} is {relation} than for {{{names[1]}}}"
    return [Branch(condition, move, episodes), Branch(condition, else_move, else_episodes, negated=True)]


def _relation(signs: Mapping[int, str], slots: Values) -> str:
    """`greater` or `smaller` where all episodes agree, or one of them for each value of a slot that decides it."""
    if len(signs) < 2:
        return ""
    if len(set(signs.values())) == 1:
        return next(iter(signs.values()))
    for slot in sorted({s for v in slots.values() for s in v}):
        by_value: dict[str, set[str]] = {}
        for e, sign in sorted(signs.items()):
            by_value.setdefault(slots[e].get(slot, ""), set()).add(sign)
        if len(by_value) == 2 and all(len(v) == 1 for v in by_value.values()):
            return " or ".join(f"{next(iter(s))} (when {{{slot}}} is {v})" for v, s in sorted(by_value.items()))
    return ""


def _readings(trace: Trace, until: int, things: list[str]) -> list[float | None]:
    """For each thing the last number read while it was the thing acted on."""
    found: list[float | None] = [None] * len(things)
    current = -1
    for step, after in zip(trace.steps[:until], trace.steps[1 : until + 1], strict=True):
        named = [i for i, thing in enumerate(things) if content(thing) <= content(step.action)]
        current = named[0] if len(named) == 1 else current
        answer = after.observation.split("\n\n")[0]
        numbers = [] if answer.startswith("This ") or named else _NUMBER.findall(answer)
        if current >= 0 and numbers:
            found[current] = float(numbers[-1])
    return found


def _by_sight(groups: Groups, seen: Mapping[int, str]) -> list[Branch]:
    """A listed phrase in sight in every episode of one form and in none of the other."""
    sights = [[set(listed(seen[e])) for e in episodes] for _, episodes in groups]
    for one, other in ((0, 1), (1, 0)):
        if len(sights[one]) < 2 and len(sights[other]) < 2:
            continue
        always = set.intersection(*sights[one]) - set.union(*sights[other])
        if always:
            phrase = min(always, key=lambda p: (len(p), p))
            (move, episodes), (else_move, else_episodes) = groups[one], groups[other]
            condition = f'you see "{phrase}"'
            return [Branch(condition, move, episodes), Branch(condition, else_move, else_episodes, negated=True)]
    return []
