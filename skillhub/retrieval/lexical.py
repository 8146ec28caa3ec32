"""Words -> scores by BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75) over positions 0, 1, 2, ..., as in `index`.

Kept in memory like the vectors; docs/decisions/0004 has the measurement. Any text is a query; none is an error.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

_K1, _B = 1.2, 0.75
_SCRIPTS_WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_SCRIPTS_WITHOUT_SPACES}]+|[^\W_{_SCRIPTS_WITHOUT_SPACES}]+")
_UNSPACED = re.compile(f"[{_SCRIPTS_WITHOUT_SPACES}]")
_STOP_WORDS = frozenset(
    _RUN.findall(
        "a about after again against all am an and any are as at be because been before being below between both but by can "
        "could did do does doing down during each few for from further had has have having he her here hers him his how i if "
        "in into is it its itself just may me might more most must my no nor not now of off on once only or other our out over "
        "own same shall she should so some such than that the their them then there these they this those through to too under "
        "until up upon very was we were what when where whether which while who whom why will with would you your"
    )
)
"""English function words: in a small workspace one of them would be a rare word and decide a ranking."""


def terms(text: str) -> Iterator[str]:
    """The index terms of a text: words without their plural s; characters and their pairs where a script has no spaces."""
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _UNSPACED.match(run):
            yield from run
            yield from map("".join, pairwise(run))
        elif run not in _STOP_WORDS:
            yield _singular(run)


def _singular(word: str) -> str:
    """Harman's S-stemmer (1991): `boxes` stays apart from `box`, `stoves` meets `stove`; nothing is mangled."""
    if word.endswith("ies") and len(word) > 4 and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and len(word) > 3 and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


class LexicalIndex:
    """Postings of one workspace. One thread at a time."""

    def __init__(self) -> None:
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._arrays: dict[str, np.ndarray] = {}
        self._lengths = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, texts: Sequence[str]) -> None:
        """The texts at the next positions."""
        lengths = []
        for position, text in enumerate(texts, start=len(self)):
            counts = Counter(terms(text))
            lengths.append(counts.total())
            for term, count in counts.items():
                self._postings[term].append((position, count))
                self._arrays.pop(term, None)
        self._lengths = np.concatenate([self._lengths, np.asarray(lengths, dtype=np.int64)])

    def search(self, queries: Sequence[str], *, allowed: np.ndarray, k: int) -> list[list[tuple[int, float]]]:
        """For each query the `k` best allowed `(position, score)` that share a term with it, best first, then by position.

        How rare a term and how long a text is, is counted among the allowed alone: equal sets give equal scores, whatever else
        the index has held. `allowed` is a bool mask over positions.
        """
        if not allowed.any():
            return [[] for _ in queries]
        total = int(allowed.sum())
        norms = _K1 * (1 - _B + _B * self._lengths / max(1.0, self._lengths[allowed].mean()))
        return [self._best(self._scores(query, allowed, total, norms), k) for query in queries]

    def _scores(self, query: str, allowed: np.ndarray, total: int, norms: np.ndarray) -> np.ndarray:
        scores = np.zeros(len(self), dtype=np.float64)
        for term in dict.fromkeys(terms(query)):
            if term in self._postings:
                positions, counts = self._array(term)
                if total < len(allowed):
                    kept = allowed[positions]
                    positions, counts = positions[kept], counts[kept]
                rarity = np.log1p((total - len(positions) + 0.5) / (len(positions) + 0.5))
                scores[positions] += rarity * counts * (_K1 + 1) / (counts + norms[positions])
        return scores

    def _array(self, term: str) -> np.ndarray:
        """`[2, n]`: the positions of a term and how often it stands there."""
        if term not in self._arrays:
            self._arrays[term] = np.asarray(self._postings[term]).T
        return self._arrays[term]

    @staticmethod
    def _best(scores: np.ndarray, k: int) -> list[tuple[int, float]]:
        matches = np.flatnonzero(scores)
        best = matches[np.argsort(-scores[matches], kind="stable")[:k]]
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))
