"""Successes against failures of one kind of task -> cautions: what ended episodes, each with the episodes behind it."""

from collections import defaultdict
from collections.abc import Sequence

from skillhub.curation.antiunify import slotted
from skillhub.curation.phrases import Move, content, parse
from skillhub.curation.render import Sentence, imperative
from skillhub.curation.template import Template
from skillhub.rollouts.trace import Trace


def cautions(template: Template, successes: Sequence[Trace], failures: Sequence[Trace], *, at_least: int = 2) -> list[Sentence]:
    """Last acts of failed episodes that no success ever did. Failures are numbered after the successes."""
    done = {_key(m) for t in successes for m in _acts(template, t)}
    ended: dict[frozenset[str], list[int]] = defaultdict(list)
    wording: dict[frozenset[str], Move] = {}
    for number, trace in enumerate(failures, start=len(successes)):
        if not trace.steps or trace.steps[-1].score >= max(s.score for s in trace.steps) > 0:
            continue
        last = _acts(template, trace)[-1]
        if _key(last) not in done:
            ended[_key(last)].append(number)
            wording.setdefault(_key(last), last)
    return [
        Sentence(f"Do not {imperative(wording[key])}: it ended {len(found)} failed episodes.", tuple(found))
        for key, found in ended.items()
        if len(found) >= at_least
    ]


def _acts(template: Template, trace: Trace) -> list[Move]:
    values = template.match(trace.task, at_least=0.0) or {}
    parsed = (parse(s.action) for s in trace.steps)
    return [Move(m.verb, tuple(slotted(a, values) for a in m.args), m.link) for m in parsed]


def _key(move: Move) -> frozenset[str]:
    return frozenset({move.verb}) | frozenset().union(*(content(a) for a in move.args))
