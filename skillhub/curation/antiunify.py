"""Anti-unification of one step over episodes: values in, terms out; what varies without a slot becomes a named choice."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillhub.curation.align import Node
from skillhub.curation.choices import Choice, choose
from skillhub.curation.listings import Listing
from skillhub.curation.phrases import Move, content
from skillhub.curation.template import Template, fill
from skillhub.rollouts.trace import Trace

_MOST = 0.75
_OFTEN = 0.5


@dataclass(frozen=True)
class Episode:
    """A trace, the slot values of its task text and its actions with those values slotted."""

    trace: Trace
    values: Mapping[str, str]
    moves: tuple[Move, ...]


@dataclass
class Scope:
    """What has been named so far, while columns are read in order."""

    episodes: Sequence[Episode]
    template: Template
    read: Listing | None = None
    choices: list[Choice] = field(default_factory=list)

    def fresh(self, base: str) -> str:
        taken = {c.name for c in self.choices} | set(self.template.slots)
        names = [base, *(f"{base}-{n}" for n in range(2, 99))]
        return next(n for n in names if n not in taken)

    def chosen(
        self, name: str, term: str, values: Mapping[int, str], at: Mapping[int, int], others: Sequence[Choice]
    ) -> Choice:
        traces = {e: self.episodes[e].trace for e in values}
        slots = {e: self.episodes[e].values for e in values}
        return choose(name, term=term, values=values, at=at, traces=traces, slots=slots, others=others)


def slotted(phrase: str, values: Mapping[str, str]) -> str:
    """`phrase` with each slot's value replaced by `{slot}`, longest values first."""
    for name, value in sorted(values.items(), key=lambda item: -len(item[1])):
        phrase = re.sub(rf"(?<![\w{{-]){re.escape(value)}(?![\w}}-])", f"{{{name}}}", phrase, flags=re.IGNORECASE)
    if "{" in phrase:
        return phrase
    partial = [n for n, v in values.items() if content(phrase) < content(v) and " " in v]
    return f"{{{partial[0]}}}" if len(partial) == 1 else phrase


def general_move(members: Mapping[int, Node], position: int, scope: Scope) -> Move:
    sample = next(iter(members.values())).moves[position]
    moves = {e: n.moves[position] for e, n in members.items() if len(n.moves[position].args) == len(sample.args)}
    args = []
    for place in range(len(sample.args)):
        values = {e: m.args[place] for e, m in moves.items()}
        at = {e: members[e].first for e in moves}
        args.append(_term(_aliased(values, scope), at, sample.verb, scope))
    return replace(sample, args=tuple(args))


def _aliased(values: Mapping[int, str], scope: Scope) -> dict[int, str]:
    """One spelling for phrases of the same words, and one slot where two slots happen to hold the same value."""
    spelling: dict[frozenset[str], str] = {}
    for value, _ in Counter(values.values()).most_common():
        spelling.setdefault(content(value), value)
    same = {e: spelling[content(v)] for e, v in values.items()}
    common = Counter(same.values()).most_common(1)[0][0]
    return {e: common if _means(v, common, scope.episodes[e].values) else v for e, v in same.items()}


def _means(left: str, right: str, values: Mapping[str, str]) -> bool:
    return fill(left, values).lower() == fill(right, values).lower()


def _term(values: Mapping[int, str], at: Mapping[int, int], verb: str, scope: Scope) -> str:
    """Anti-unify one argument over the episodes; what varies is registered in the scope as a choice."""
    common, times = Counter(values.values()).most_common(1)[0]
    if times == len(values):
        return common
    plain = {e: fill(v, scope.episodes[e].values) for e, v in values.items()}
    known = _built_of(values, scope) or _built_of(plain, scope) or _confirmed(plain, at, scope)
    if known:
        return known
    if times >= _MOST * len(values) or all(v.startswith("{") for v in values.values()):
        return common
    known = _around(values, scope)
    if known:
        return known
    prefix, suffix = _frame(list(values.values()))
    middles = {e: " ".join(v.split()[len(prefix) : len(v.split()) - len(suffix)]) for e, v in values.items()}
    if prefix or suffix:
        middles = _unslotted(middles, scope)
    name = scope.fresh(_name(prefix, suffix))
    term = " ".join([*prefix, f"{{{name}}}", *suffix])
    scope.choices.append(scope.chosen(name, term, middles, at, scope.choices))
    return term


def _built_of(values: Mapping[int, str], scope: Scope) -> str:
    """The term, where it is the same words around a choice made before: `{wire} wire terminal 2`."""
    for choice, joint in _related(values, scope):
        terms = Counter(_with_choice(values[e], choice.name, choice.values[e]) for e in joint)
        term, times = terms.most_common(1)[0]
        if "{" + choice.name + "}" in term and times >= _MOST * len(joint):
            return choice.term if choice.term == "{" + choice.name + "}" and times < len(joint) else term
    return ""


def _confirmed(values: Mapping[int, str], at: Mapping[int, int], scope: Scope) -> str:
    """The term of a choice that only some of the episodes made, where all these bear it out; the others join it."""
    for number, choice in enumerate(scope.choices):
        joint = [e for e in values if e in choice.values]
        if len(joint) < 2 or len(joint) == len(values):
            continue
        terms = {_with_choice(values[e], choice.name, choice.values[e]) for e in joint}
        before, _, after = next(iter(terms)).partition("{" + choice.name + "}")
        framed = {e: _between(v, before, after) for e, v in values.items()}
        if len(terms) == 1 and (before or after) and all(framed.values()):
            joined = {**framed, **choice.values}
            where = {**{e: at[e] for e in values}, **choice.at}
            scope.choices[number] = scope.chosen(choice.name, choice.term, joined, where, scope.choices[:number])
            return next(iter(terms))
    return ""


def _between(text: str, before: str, after: str) -> str:
    inside = text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)
    return text[len(before) : len(text) - len(after)] if inside else ""


def _around(values: Mapping[int, str], scope: Scope) -> str:
    """The term of a choice made before, where it is that thing under a longer name."""
    for choice, joint in _related(values, scope):
        full = {e: choice.term.replace("{" + choice.name + "}", choice.values[e]) for e in joint}
        if sum(content(full[e]) <= content(values[e]) for e in joint) >= _MOST * len(joint):
            return choice.term
    return ""


def _related(values: Mapping[int, str], scope: Scope) -> list[tuple[Choice, list[int]]]:
    """Earlier choices, latest first, with the episodes in which both stand."""
    pairs = [(c, [e for e in values if e in c.values]) for c in reversed(scope.choices)]
    return [(c, joint) for c, joint in pairs if len(joint) >= max(2, _MOST * len(values))]


def _with_choice(value: str, name: str, chosen: str) -> str:
    return re.sub(rf"(?<![\w{{]){re.escape(chosen)}(?![\w}}])", f"{{{name}}}", value)


def _unslotted(values: Mapping[int, str], scope: Scope) -> dict[int, str]:
    """Slots that only now and then fit what was chosen (a colour met by chance) give way to the plain words."""
    if sum(v.startswith("{") for v in values.values()) >= _MOST * len(values):
        return dict(values)
    times = Counter(values.values())
    often = max(2, _OFTEN * len(values))
    return {e: v if times[v] >= often else fill(v, scope.episodes[e].values) for e, v in values.items()}


def _frame(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words that all values begin with and end with; something is always left between them."""
    split = [v.split() for v in values]
    room = min(len(s) for s in split) - 1
    prefix = 0
    while prefix < room and len({s[prefix] for s in split}) == 1:
        prefix += 1
    suffix = 0
    while suffix < room - prefix and len({s[-1 - suffix] for s in split}) == 1:
        suffix += 1
    return split[0][:prefix], split[0][len(split[0]) - suffix :]


def _name(prefix: Sequence[str], suffix: Sequence[str]) -> str:
    near = [w.lower() for w in (*suffix[:1], *prefix[-1:]) if w.isalpha() and content(w) and len(w) > 3 and w != "containing"]
    return near[0] if near else "target"
