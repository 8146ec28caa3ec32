"""Finding what an agent may read: the reading index ranks, the database has the last word."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillhub.errors import NotFound
from skillhub.retrieval import search as pipeline
from skillhub.retrieval.reader import Reader
from skillhub.retrieval.search import Ranked
from skillhub.safety.text import storable
from skillhub.services.scope import Scope
from skillhub.store import search as store
from skillhub.store.versions import Served

_ALWAYS_LABELS = ("production", "latest")
"""Labels that mean something before the first skill is there."""


@dataclass(frozen=True)
class Hit:
    """A version under the label that was asked for, of a skill that is not retired."""

    rank: int
    """1 for the best."""
    ranked: Ranked
    served: Served


@dataclass(frozen=True)
class Found:
    """Hits of each query, best first, and the event the index had reached."""

    hits: list[list[Hit]]
    seq: int


@dataclass(frozen=True)
class Searcher:
    """Searches of one process."""

    reader: Reader
    wait_seconds: float
    """Longest wait for the index to reach an event."""

    def find(
        self, scope: Scope, queries: Sequence[str], *, label: str, k: int, kind: str | None = None, min_seq: int | None = None
    ) -> Found:
        """The `k` best versions for each query.

        Served is what the label points to when the answer is read from the database, also where the index is a moment behind:
        a label's move is seen as before or after, never as neither, and a retired skill not at all.
        Errors: NotFound for a label that no skill has; Unavailable where `min_seq` is not reached.
        """
        queries = [storable(query) for query in queries]
        seq = self.reader.wait_for(scope.workspace_id, min_seq or 0, timeout=self.wait_seconds)
        index = self.reader.index(scope.workspace_id)
        if label not in _ALWAYS_LABELS and not index.has_label(label):
            raise NotFound(f"no skill has the label {label!r}")
        ranked = pipeline.search(index, self.reader.encoder, queries, label=label, kind=kind, k=k)
        served = _served(scope, label=label, skill_ids={item.skill_id for items in ranked for item in items})
        return Found([_hits(items, served) for items in ranked], seq)


def _served(scope: Scope, *, label: str, skill_ids: set[str]) -> dict[str, Served]:
    if not skill_ids:
        return {}
    with scope.transaction() as unit:
        return store.served(unit.session, workspace_id=scope.workspace_id, label=label, skill_ids=skill_ids)


def _hits(items: Sequence[Ranked], served: dict[str, Served]) -> list[Hit]:
    kept = [item for item in items if item.skill_id in served]
    return [Hit(rank, item, served[item.skill_id]) for rank, item in enumerate(kept, start=1)]
