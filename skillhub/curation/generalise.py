"""Aligned columns -> general steps: constants stay, text-bound values become slots, chosen values become named choices."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillhub.curation.align import Column, Node, align, nodes, parsed
from skillhub.curation.antiunify import Episode, Scope, general_move, slotted
from skillhub.curation.choices import Choice
from skillhub.curation.conditions import Branch, branches, heard, presence
from skillhub.curation.listings import Listing, for_each, listing
from skillhub.curation.phrases import Move, content, first_seen
from skillhub.curation.template import Template, learn_template
from skillhub.rollouts.trace import Trace

_MOST = 0.75
_OFTEN = 0.5
_SOMETIMES = 0.25
_COMMITTING = frozenset({"focus on"})


@dataclass(frozen=True)
class Step:
    """One general step. A block (`count` > 1) holds several moves that are repeated."""

    moves: tuple[Move, ...]
    episodes: tuple[int, ...]
    count: int = 1
    until: str = ""
    optional: bool = False
    when: str = ""
    """The slot value that the step is for, where not every episode of the kind has it."""
    choices: tuple[Choice, ...] = ()
    """Choices that this step introduces."""
    branches: tuple[Branch, ...] = ()
    """Conditional forms of the step; where given they replace `moves`."""
    each: Listing | None = None
    """The block is for each thing that was read of."""


def generalise(traces: Sequence[Trace]) -> tuple[Template, list[Step]]:
    """The task template of one kind of task and the steps its successful episodes share."""
    template = learn_template([t.task for t in traces])
    acts = [parsed(t) for t in traces]
    read = listing(traces, acts)
    episodes = [_episode(t, template, for_each(read, e, acts[e])) for e, t in enumerate(traces)]
    scope = Scope(episodes, template, read)
    columns = align([nodes(e.trace, e.moves) for e in episodes])
    steps = [_step(column, scope) for column in columns if _is_kept(column, scope)]
    return template, _introduced([s for s in steps if not _is_wandering(s, scope)], scope.choices)


def _introduced(steps: Sequence[Step], choices: Sequence[Choice]) -> list[Step]:
    """Each choice stands with the first step that names it (the step which made it may have been dropped)."""
    known: set[str] = set()
    result = []
    for step in steps:
        moves = [b.move for b in step.branches] or step.moves
        named = {n for m in moves for a in m.args for n in re.findall(r"\{([a-z0-9-]+)\}", a)}
        held = {c.holds for c in choices if c.name in named}
        new = tuple(c for c in choices if c.name in named | held and c.name not in known)
        known |= {c.name for c in new}
        result.append(replace(step, choices=new))
    return result


def _episode(trace: Trace, template: Template, acts: Sequence[Move]) -> Episode:
    values = template.match(trace.task, at_least=0.0) or {}
    moves = tuple(replace(m, args=tuple(slotted(a, values) for a in m.args)) for m in acts)
    return Episode(trace, values, moves)


def _is_kept(column: Column, scope: Scope) -> bool:
    share = len(column) / len(scope.episodes)
    verb = next(iter(column.values())).verb
    if share >= _OFTEN or _when(column, scope):
        return True
    return verb not in _COMMITTING and len(scope.episodes) > 2 and share >= _SOMETIMES and len(column) > 1


def _when(column: Column, scope: Scope) -> str:
    slots = {e: ep.values for e, ep in enumerate(scope.episodes)}
    told = {e: ep.trace for e, ep in enumerate(scope.episodes)}
    return presence(set(column), slots) or heard({e: n.first for e, n in column.items()}, told)


def _is_wandering(step: Step, scope: Scope) -> bool:
    """A walk, or a step that few took, to things that differ for no reason in the task text teaches nothing.

    A thing that few chose here, but most made use of in the end, is no guess.
    """
    total = len(scope.episodes)
    walking = step.moves[0].verb in {"go to", "teleport to"}
    shared = {c.name for c in scope.choices if len(c.values) >= _MOST * total}
    guessed = any(not c.table and c.name not in shared for c in step.choices)
    rare = len(step.episodes) < _OFTEN * total and not step.when
    return (step.optional and guessed) or (walking and (guessed or rare))


def _step(column: Column, scope: Scope) -> Step:
    size = Counter(len(n.moves) for n in column.values()).most_common(1)[0][0]
    members = {e: n for e, n in column.items() if len(n.moves) == size}
    before = len(scope.choices)
    when = _when(column, scope)
    moves = tuple(general_move(members, position, scope) for position in range(size))
    step = Step(
        moves=moves,
        episodes=tuple(sorted(column)),
        count=max(n.count for n in members.values()),
        until=_until(members, scope) if size > 1 or max(n.count for n in members.values()) > 2 else "",
        optional=not when and len(column) < _MOST * len(scope.episodes),
        when=when,
        choices=tuple(scope.choices[before:]),
        each=scope.read if any(n.each for n in members.values()) else None,
    )
    return _branched(step, members, scope) if size == 1 else step


def _branched(step: Step, members: Mapping[int, Node], scope: Scope) -> Step:
    found = branches(
        {e: n.moves[0] for e, n in members.items()},
        at={e: n.first for e, n in members.items()},
        traces={e: scope.episodes[e].trace for e in members},
        slots={e: scope.episodes[e].values for e in members},
        template=scope.template,
    )
    return replace(step, branches=tuple(found)) if found else step


def _until(members: Mapping[int, Node], scope: Scope) -> str:
    """A word of the answers which ended the repetition in most episodes and was not there before."""
    votes: Counter[str] = Counter()
    for e, node in members.items():
        if node.last + 1 >= len(scope.episodes[e].trace.steps):
            continue
        answers = [s.observation.split("\n\n")[0] for s in scope.episodes[e].trace.steps[node.first + 1 : node.last + 2]]
        if len(answers) < 3:
            continue
        tail = max(1, len(node.moves))
        ending = content(" ".join(answers[-tail:])) - content(" ".join(answers[:-tail]))
        votes.update(w for w in ending if w.isalpha() and len(w) > 2)
    ranked = [w for w, n in sorted(votes.items(), key=lambda i: (-i[1], i[0])) if n >= max(2, _OFTEN * len(members))]
    return first_seen(ranked)[0] if ranked else ""
