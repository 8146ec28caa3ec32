"""Episodes of one kind -> columns of matching steps: noise dropped, repeats folded, sequences aligned progressively."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillhub.curation.listings import ITEM, answer
from skillhub.curation.phrases import Move, clean, content, overlap, parse
from skillhub.rollouts.trace import Trace

_LOOKING = frozenset({"look around", "inventory", "task", "look"})
_WALKING = frozenset({"go to", "teleport to"})
_MOVED = re.compile(r"You move the ([^(]+?) to the ")
_FUTILE = ("No known action", "You can't")
_HALF_OTHER = 0.1
"""Likeness of acts that bring the same thing to quite different ones counts for little."""
_GAP = -0.15
_LONGEST_BLOCK = 12


@dataclass(frozen=True)
class Node:
    """One step of an episode, or a block of steps that it repeated."""

    moves: tuple[Move, ...]
    first: int
    """Index of its first step in the trace."""
    last: int
    """Index of its last step in the trace."""
    count: int = 1
    reward: float = 0.0
    each: bool = False
    """The block is done once for each thing that the episode had read of."""

    @property
    def verb(self) -> str:
        return self.moves[0].verb if not self.is_block else "repeat"

    @property
    def is_block(self) -> bool:
        return self.count > 1 or self.each


Column = Mapping[int, Node]
"""Episode number -> its node in this column."""


def nodes(trace: Trace, moves: Sequence[Move]) -> list[Node]:
    """The steps that matter, repeats folded. `moves` are the trace's actions, parsed (and slotted), one for each step."""
    single = [Node((m,), i, i, 1, trace.steps[i].reward) for i, m in enumerate(moves)]
    useful = [n for n in single if not _is_noise(n.moves[0]) and not answer(trace, n.first).startswith(_FUTILE)]
    return _gathered(_fold(_arrivals(useful)))


def align(episodes: Sequence[Sequence[Node]]) -> list[Column]:
    """Columns over all episodes, starting from the one that resembles the others most."""
    order = _medoid_first(episodes)
    columns: list[dict[int, Node]] = [{order[0]: n} for n in episodes[order[0]]]
    for number in order[1:]:
        columns = _merge(columns, number, episodes[number])
    return columns


def similarity(left: Node, right: Node) -> float:
    """0 for steps of different verbs, otherwise 0.4 to 1 by the likeness of their objects."""
    if left.verb != right.verb or (not left.is_block and len(left.moves[0].args) != len(right.moves[0].args)):
        return 0.0
    if left.is_block:
        a, b = {m.verb for m in left.moves}, {m.verb for m in right.moves}
        return 0.9 * len(a & b) / len(a | b)
    pairs = list(zip(left.moves[0].args, right.moves[0].args, strict=True))
    alike = [overlap(a, b) for a, b in pairs] or [1.0]
    weight = 0.6 if len(alike) == 1 or min(alike) > 0 else _HALF_OTHER
    return 0.4 + weight * sum(alike) / len(alike)


def parsed(trace: Trace) -> list[Move]:
    """The moves of an episode; a thing called by less than its name goes by the name that the answer gives it."""
    return [_by_its_name(parse(step.action), answer(trace, i)) for i, step in enumerate(trace.steps)]


def _by_its_name(move: Move, said: str) -> Move:
    named = _MOVED.match(said)
    if not named or not move.args:
        return move
    short, full = content(move.args[0]), content(named[1])
    return replace(move, args=(clean(named[1]), *move.args[1:])) if short < full or not short & full else move


def _is_noise(move: Move) -> bool:
    opened_door = move.verb in {"open", "close"} and any("door" in a.split() for a in move.args)
    return move.verb in _LOOKING or move.verb.isdigit() or opened_door


def _arrivals(steps: Sequence[Node]) -> list[Node]:
    """Of each walk keep the last step: where something happens; how one got there varies with the start."""
    kept: list[Node] = []
    for i, node in enumerate(steps):
        passing = node.verb in _WALKING and i + 1 < len(steps) and steps[i + 1].verb in _WALKING
        if not passing:
            kept.append(node)
    return kept


def _fold(steps: Sequence[Node]) -> list[Node]:
    """Fold runs of the same block (of up to a dozen steps) into one node, longest cover first."""
    folded: list[Node] = []
    i = 0
    while i < len(steps):
        period, times = _best_block(steps, i)
        block = steps[i : i + period * times]
        reward = sum(n.reward for n in block)
        body = tuple(n.moves[0] for n in block[:period])
        folded.append(Node(body, block[0].first, block[-1].last, times, reward))
        i += period * times
    return folded


def _gathered(steps: Sequence[Node]) -> list[Node]:
    """Neighbouring steps on things read of become one block."""
    kept: list[Node] = []
    for node in steps:
        if not any(ITEM in m.args for m in node.moves):
            kept.append(node)
        elif kept and kept[-1].each and kept[-1].last + 1 >= node.first and not node.is_block and kept[-1].count == 1:
            kept[-1] = replace(kept[-1], moves=(*kept[-1].moves, *node.moves), last=node.last)
        else:
            kept.append(replace(node, each=True))
    return kept


def _best_block(steps: Sequence[Node], start: int) -> tuple[int, int]:
    best = (1, 1)
    for period in range(1, _LONGEST_BLOCK + 1):
        times = 1
        while _same_block(steps, start, start + times * period, period):
            times += 1
        if times > 1 and period * times > best[0] * best[1]:
            best = (period, times)
    return best


def _same_block(steps: Sequence[Node], first: int, second: int, period: int) -> bool:
    if second + period > len(steps):
        return False
    pairs = zip(steps[first : first + period], steps[second : second + period], strict=True)
    return all(_same_act(a.moves[0], b.moves[0]) for a, b in pairs)


def _same_act(left: Move, right: Move) -> bool:
    """The same act on the same things, though a name may have grown or lost a word ("lead", "liquid lead")."""
    if left.verb != right.verb or len(left.args) != len(right.args):
        return False
    pairs = [(content(a), content(b)) for a, b in zip(left.args, right.args, strict=True)]
    return all(a <= b or b <= a for a, b in pairs)


def _medoid_first(episodes: Sequence[Sequence[Node]]) -> list[int]:
    totals = [sum(_align_pair([[n] for n in a], b)[0] for b in episodes) / max(1, len(a)) for a in episodes]
    return sorted(range(len(episodes)), key=lambda i: (-totals[i], i))


def _merge(columns: Sequence[dict[int, Node]], number: int, episode: Sequence[Node]) -> list[dict[int, Node]]:
    _, path = _align_pair([list(c.values()) for c in columns], episode)
    merged: list[dict[int, Node]] = []
    for c, n in path:
        column = dict(columns[c]) if c is not None else {}
        if n is not None:
            column[number] = episode[n]
        merged.append(column)
    return merged


def _align_pair(
    columns: Sequence[Sequence[Node]], episode: Sequence[Node]
) -> tuple[float, list[tuple[int | None, int | None]]]:
    """Needleman-Wunsch of columns against one episode: the score and the path of matched indices."""
    rows, cols = len(columns) + 1, len(episode) + 1
    score = [[_GAP * (r + c) for c in range(cols)] for r in range(rows)]
    match = [[_likeness(column, node) for node in episode] for column in columns]
    for r in range(1, rows):
        for c in range(1, cols):
            both = score[r - 1][c - 1] + (match[r - 1][c - 1] or -9.0)
            score[r][c] = max(both, score[r - 1][c] + _GAP, score[r][c - 1] + _GAP)
    return score[-1][-1], _trace_back(score, match)


def _likeness(column: Sequence[Node], node: Node) -> float:
    return sum(similarity(other, node) for other in column) / len(column)


def _trace_back(score: list[list[float]], match: list[list[float]]) -> list[tuple[int | None, int | None]]:
    r, c = len(score) - 1, len(score[0]) - 1
    path: list[tuple[int | None, int | None]] = []
    while r or c:
        if r and c and score[r][c] == score[r - 1][c - 1] + (match[r - 1][c - 1] or -9.0):
            r, c = r - 1, c - 1
            path.append((r, c))
        elif r and (not c or score[r][c] == score[r - 1][c] + _GAP):
            r -= 1
            path.append((r, None))
        else:
            c -= 1
            path.append((None, c))
    return path[::-1]
