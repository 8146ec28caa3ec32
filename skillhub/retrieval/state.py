"""What one workspace can be searched for right now: vectors, words and labels that belong together, and the event they reach.

A version has one position, the same in both indexes. What a search may see is a mask over positions, by label and kind.
"""

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skillhub.retrieval.index import VectorIndex
from skillhub.retrieval.lexical import LexicalIndex

_DEAD_ALLOWED = 256


class Labelled(NamedTuple):
    """A label of a skill that is not retired, and the version under it."""

    skill_id: str
    kind: str
    label: str
    version_id: str


class Entry(NamedTuple):
    """A version to be made searchable."""

    version_id: str
    skill_id: str
    text: str
    vector: np.ndarray


class Scored(NamedTuple):
    skill_id: str
    score: float


@dataclass(frozen=True)
class Legs:
    """The two rankings of one query, best first."""

    dense: list[Scored]
    lexical: list[Scored]


class WorkspaceIndex:
    """Safe for threads: a search sees the state before or after a change, never between."""

    def __init__(self) -> None:
        self.seq = 0
        """Every change of a skill up to this event can be found."""
        self._lock = threading.Lock()
        self._vectors: VectorIndex | None = None
        self._lexical = LexicalIndex()
        self._version_ids: list[str] = []
        self._skill_ids: list[str] = []
        self._skills: dict[str, list[Labelled]] = {}
        self._masks: dict[tuple[str, str | None], np.ndarray] = {}

    def __len__(self) -> int:
        return len(self._version_ids)

    @property
    def known(self) -> frozenset[str]:
        """Versions that have a position."""
        return frozenset(self._version_ids)

    @property
    def is_wasteful(self) -> bool:
        """More dead positions than living ones: time to build a new one."""
        living = len(self._wanted())
        return len(self) - living > max(_DEAD_ALLOWED, living)

    def served(self, label: str) -> set[str]:
        """Ids of the versions a search under `label` can find."""
        with self._lock:
            mask = self._mask(label, None)
            return {version_id for version_id, allowed in zip(self._version_ids, mask, strict=True) if allowed}

    def has_label(self, label: str) -> bool:
        """Whether any skill that is not retired has the label."""
        with self._lock:
            return any(row.label == label for rows in self._skills.values() for row in rows)

    def apply(
        self, *, seq: int, skill_ids: Collection[str] | None, labelled: Iterable[Labelled], entries: Sequence[Entry]
    ) -> None:
        """Add `entries` and replace all that is known of the labels of `skill_ids` (of every skill where None), at once."""
        with self._lock:
            if entries:
                self._add(entries)
            for skill_id in list(self._skills) if skill_ids is None else skill_ids:
                self._skills.pop(skill_id, None)
            for row in labelled:
                self._skills.setdefault(row.skill_id, []).append(row)
            self._masks.clear()
            self.seq = seq

    def search(self, vectors: np.ndarray, queries: Sequence[str], *, label: str, kind: str | None, depth: int) -> list[Legs]:
        """Both rankings of each query, `depth` deep, of the skills whose version under `label` it is compared with."""
        with self._lock:
            if self._vectors is None:
                return [Legs([], []) for _ in queries]
            allowed = self._mask(label, kind)
            dense = self._vectors.search(vectors, allowed=allowed, k=depth)
            lexical = self._lexical.search(queries, allowed=allowed, k=depth)
        return [Legs(self._named(one), self._named(other)) for one, other in zip(dense, lexical, strict=True)]

    def _add(self, entries: Sequence[Entry]) -> None:
        vectors = np.stack([entry.vector for entry in entries])
        self._vectors = self._vectors or VectorIndex(vectors.shape[1])
        self._vectors.add(vectors)
        self._lexical.add([entry.text for entry in entries])
        self._version_ids += [entry.version_id for entry in entries]
        self._skill_ids += [entry.skill_id for entry in entries]

    def _wanted(self) -> set[str]:
        return {row.version_id for rows in list(self._skills.values()) for row in rows}

    def _mask(self, label: str, kind: str | None) -> np.ndarray:
        if (label, kind) not in self._masks:
            rows = (row for rows in self._skills.values() for row in rows)
            wanted = {row.version_id for row in rows if row.label == label and kind in (None, row.kind)}
            self._masks[label, kind] = np.fromiter((i in wanted for i in self._version_ids), bool, len(self))
        return self._masks[label, kind]

    def _named(self, hits: list[tuple[int, float]]) -> list[Scored]:
        """With ids for positions; equal scores in order of id, so that all replicas agree."""
        scored = [Scored(self._skill_ids[position], score) for position, score in hits]
        return sorted(scored, key=lambda hit: (-hit.score, hit.skill_id))
