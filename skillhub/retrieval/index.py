"""Nearest vectors by inner product: a FAISS index over positions 0, 1, 2, ... A cache: the vectors' home is PostgreSQL.

Few vectors are compared one by one, many through an HNSW graph; scores are exact float32 inner products either way. Nothing is
ever removed: callers leave positions out by mask, and build a new index when too many are dead. One thread at a time, and never
across a fork.
"""

import numpy as np

EXACT_LIMIT = 20_000
"""Up to so many allowed vectors are compared one by one."""
_HNSW_NEIGHBOURS = 32
_EF_CONSTRUCTION = 80
_EF_SEARCH = 128


class VectorIndex:
    """Vectors of one workspace under one model."""

    def __init__(self, dimension: int) -> None:
        import faiss

        faiss.omp_set_num_threads(1)
        self._faiss = faiss
        self._index = faiss.IndexFlatIP(dimension)

    def __len__(self) -> int:
        return self._index.ntotal

    def add(self, vectors: np.ndarray) -> None:
        """float32 `[n, dimension]` at the next n positions."""
        if not self._is_graph and len(self) + len(vectors) > EXACT_LIMIT:
            self._index = self._graph()
        self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))

    def search(self, queries: np.ndarray, *, allowed: np.ndarray, k: int) -> list[list[tuple[int, float]]]:
        """For each query the `k` best allowed `(position, score)`, best first; `allowed` is a bool mask over positions."""
        count = int(allowed.sum())
        if not count or not len(queries):
            return [[] for _ in queries]
        index = self._index.storage if self._is_graph and count <= EXACT_LIMIT else self._index
        scores, positions = index.search(np.ascontiguousarray(queries), min(k, count), params=self._parameters(index, allowed))
        rows = zip(positions.tolist(), scores.tolist(), strict=True)
        return [[hit for hit in zip(*row, strict=True) if hit[0] >= 0] for row in rows]

    @property
    def _is_graph(self) -> bool:
        return isinstance(self._index, self._faiss.IndexHNSWFlat)

    def _graph(self):
        """An HNSW index with the vectors held so far."""
        graph = self._faiss.IndexHNSWFlat(self._index.d, _HNSW_NEIGHBOURS, self._faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = _EF_CONSTRUCTION
        graph.add(self._index.reconstruct_n(0, len(self)))
        return graph

    def _parameters(self, index, allowed: np.ndarray):
        selector = None if allowed.all() else self._faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        if isinstance(index, self._faiss.IndexHNSWFlat):
            return self._faiss.SearchParametersHNSW(sel=selector, efSearch=_EF_SEARCH)
        return self._faiss.SearchParameters(sel=selector) if selector else None
