"""Nearest vectors: scores are exact, masks are kept, below and above the size where a graph takes over."""

import numpy as np
import pytest

from skillhub.retrieval import index as module
from skillhub.retrieval.index import VectorIndex


def unit_vectors(count: int, *, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(params=["flat", "graph"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    monkeypatch.setattr(module, "EXACT_LIMIT", 10_000 if request.param == "flat" else 100)
    index = VectorIndex(16)
    for start in range(0, 600, 60):
        index.add(unit_vectors(600, seed=1)[start : start + 60])
    return index


@pytest.mark.parametrize("allowed_count", [600, 300, 50, 3])
def test_the_best_allowed_vectors_are_found_with_exact_scores(index: VectorIndex, allowed_count: int) -> None:
    vectors, queries = unit_vectors(600, seed=1), unit_vectors(20, seed=2)
    allowed = np.zeros(600, bool)
    allowed[np.random.default_rng(3).permutation(600)[:allowed_count]] = True
    exact = np.where(allowed, queries @ vectors.T, -np.inf)
    overlaps = []
    for query, hits in zip(exact, index.search(queries, allowed=allowed, k=10), strict=True):
        assert len(hits) == min(10, allowed_count)
        assert all(allowed[position] for position, _ in hits)
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
        np.testing.assert_allclose([score for _, score in hits], query[[position for position, _ in hits]], atol=1e-6)
        best = np.argsort(-query)[: len(hits)].tolist()
        overlaps.append(len({position for position, _ in hits} & set(best)) / len(best))
    assert np.mean(overlaps) >= 0.95


def test_nothing_allowed_finds_nothing(index: VectorIndex) -> None:
    assert index.search(unit_vectors(2, seed=2), allowed=np.zeros(600, bool), k=3) == [[], []]
