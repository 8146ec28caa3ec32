"""Several rankings -> one, by reciprocal rank fusion (Cormack et al. 2009): scores of different kinds never mix."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)
_CONSTANT = 60


def reciprocal_rank(*rankings: Sequence[Item]) -> list[tuple[Item, float]]:
    """`(item, sum of 1 / (60 + rank))`, best first; equal scores in order of first appearance."""
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (_CONSTANT + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
