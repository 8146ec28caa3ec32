"""The stations a query passes: filters -> dense and lexical -> fusion -> cross-encoder, where there is one."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from skillhub.retrieval import fuse
from skillhub.retrieval.reader import TextEncoder
from skillhub.retrieval.state import Legs, WorkspaceIndex

log = logging.getLogger("skillhub.search")

_LEAST_DEPTH = 50


class Reranker(Protocol):
    """A cross-encoder: reads query and document together."""

    def scores(self, query: str, skill_ids: Sequence[str]) -> Sequence[float]:
        """One relevance for each skill, higher is better."""
        ...


@dataclass(frozen=True)
class Ranked:
    """A skill a search found by its version under the label, with what each station said of it."""

    skill_id: str
    score: float
    """What the order comes from: the cross-encoder's score where one ran, else the fused one."""
    parts: Mapping[str, float | None]
    """`dense` (cosine), `lexical` (BM25), `fused`, `rerank`; None where the station did not see it."""


def search(
    index: WorkspaceIndex,
    encoder: TextEncoder,
    queries: Sequence[str],
    *,
    label: str,
    kind: str | None,
    k: int,
    reranker: Reranker | None = None,
) -> list[list[Ranked]]:
    """The `k` skills whose version under `label` fits each query best, best first. All queries are encoded in one call."""
    depth = max(_LEAST_DEPTH, 4 * k)
    legs = index.search(encoder.encode(list(queries)), queries, label=label, kind=kind, depth=depth)
    found = [_fused(each) for each in legs]
    if reranker is not None:
        found = [_reranked(query, ranked, reranker) for query, ranked in zip(queries, found, strict=True)]
    return [ranked[:k] for ranked in found]


def _fused(legs: Legs) -> list[Ranked]:
    dense, lexical = dict(legs.dense), dict(legs.lexical)
    return [
        Ranked(skill_id, score, {"dense": dense.get(skill_id), "lexical": lexical.get(skill_id), "fused": score})
        for skill_id, score in fuse.reciprocal_rank(list(dense), list(lexical))
    ]


def _reranked(query: str, ranked: list[Ranked], reranker: Reranker) -> list[Ranked]:
    """In the order of the cross-encoder; in the fused order, without its part, where it fails."""
    try:
        scores = reranker.scores(query, [item.skill_id for item in ranked])
    except Exception as error:
        log.warning("the cross-encoder failed, the fused order stays: %s", error)
        return ranked
    rescored = (
        replace(item, score=float(score), parts={**item.parts, "rerank": float(score)})
        for item, score in zip(ranked, scores, strict=True)
    )
    return sorted(rescored, key=lambda item: -item.score)
