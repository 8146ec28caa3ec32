"""Traces of several kinds of task -> rules: orderings of acts that hold across kinds, each borne out by many episodes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from skillhub.curation.draft import Claim, Draft
from skillhub.curation.phrases import content, parse
from skillhub.curation.render import slug
from skillhub.rollouts.trace import Trace

SUPPORT = 3
ANY = "any"
"""Slice of what holds for every kind of task."""
_KINDS = 2


def rules(won: Mapping[str, Sequence[Trace]]) -> list[Draft]:
    """Rules of the form "before you B something, A it", sorted by name."""
    support: dict[tuple[str, str], set[str]] = defaultdict(set)
    against: dict[tuple[str, str], set[str]] = defaultdict(set)
    kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for slice_, traces in won.items():
        for trace in traces:
            held, broken = _orders(trace)
            for pair in held:
                support[pair].add(trace.episode_id)
                kinds[pair].add(slice_)
            for pair in broken:
                against[pair].add(trace.episode_id)
    good = [p for p in support if len(support[p]) >= SUPPORT and len(kinds[p]) >= _KINDS and not against[p]]
    return [_rule(pair, sorted(support[pair]), len(kinds[pair])) for pair in sorted(good)]


def _orders(trace: Trace) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Pairs (A, B) where each B of a thing came after an A of it; and pairs where some B came without."""
    done: dict[str, set[frozenset[str]]] = defaultdict(set)
    held: set[tuple[str, str]] = set()
    broken: set[tuple[str, str]] = set()
    verbs = {parse(s.action).verb for s in trace.steps}
    for step in trace.steps:
        move = parse(step.action)
        if not move.args:
            continue
        thing = content(move.args[0])
        for earlier in verbs - {move.verb}:
            (held if thing in done[earlier] else broken).add((earlier, move.verb))
        done[move.verb].add(thing)
    return held - broken, broken


def _rule(pair: tuple[str, str], episodes: Sequence[str], kinds: int) -> Draft:
    earlier, later = pair
    name = slug(f"{earlier}-before-{later}")
    text = f"When you are about to {later} a thing, first {earlier} that thing."
    body = f"---\nname: {name}\ndescription: {_quoted(text)}\n---\n\n- {text}\n"
    claim = Claim("", text, tuple(episodes), weight=float(len(episodes)))
    rationale = f"Held in {len(episodes)} successful episodes of {kinds} kinds of task, and broken in none."
    return Draft(name, "rule", ANY, body, (claim,), rationale)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'
