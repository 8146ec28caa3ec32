"""Words of a step -> what the simulator calls things: lexical match first, sentence embeddings where words differ."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np

from demo.world import Thing
from skillhub.curation.phrases import content

Encode = Callable[[list[str]], np.ndarray]

EXACT, CERTAIN, SURE, LIKELY = 3.0, 1.2, 1.0, 0.5
_PLACE = re.compile(r" (?:in|on) ")
_HEAD = re.compile(r" (?:in|on|containing|with|to) ")


@lru_cache(maxsize=65536)
def score(phrase: str, referent: str) -> float:
    """How well a referent fits a phrase: 3 the same words, above 1 surely the thing, above 0.5 likely, 0 not at all."""
    wanted, named = content(phrase), content(referent)
    head, kind = _HEAD.split(referent)[0], _HEAD.split(phrase)[0]
    same_kind = kind.lower().split()[-1] == head.lower().split()[-1]
    if wanted == named:
        return EXACT if same_kind or kind == phrase else 0.9
    if wanted <= content(head):
        return (2.5 if same_kind else 0.9) - min(0.3, 0.1 * len(named - wanted))
    if wanted <= content(_PLACE.split(referent)[-1]) and _PLACE.search(referent):
        return 0.0  # it lies in what is wanted
    if wanted <= named:
        return (2.0 if _HEAD.search(phrase) and same_kind else 0.9) - min(0.4, 0.1 * len(named - wanted))
    if named < wanted and _PLACE.split(phrase)[0].lower().split()[-1] == head.lower().split()[-1]:
        return 1.2 - 0.1 * len(wanted - named)
    return 0.0


def fit(phrase: str, thing: Thing) -> float:
    """How well the best of a thing's names fits. A name that says less than the phrase counts only if it is the plain one."""
    fits = [score(phrase, a) for a in thing.aliases if not content(a) < content(phrase)]
    plain = score(phrase, thing.name)
    return max([*fits, plain + 0.05 if plain else 0.0])


def extends(phrase: str, things: Iterable[Thing]) -> bool:
    """Whether the phrase names a part of one of the things ("lamp socket" where there is a lamp)."""
    return any(content(t.name) < content(phrase) and phrase.lower().startswith(t.name.lower()) for t in things)


def best_fit(phrase: str, things: Iterable[Thing]) -> float:
    """How well the best of the things fits."""
    return max((fit(phrase, t) for t in things), default=0.0)


def best_thing(phrase: str, things: Iterable[Thing]) -> Thing | None:
    """The thing that fits best, if any does."""
    ranked = max(things, key=lambda t: (fit(phrase, t), -t.number), default=None)
    return ranked if ranked is not None and fit(phrase, ranked) >= LIKELY else None


class Similarity:
    """Cosine similarity of short texts, each text encoded once."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._cache: dict[str, np.ndarray] = {}

    def closest(self, texts: Sequence[str], candidates: Sequence[str]) -> tuple[float, str]:
        """The candidate nearest to any of `texts`."""
        if not texts or not candidates:
            return 0.0, ""
        scores = (self._vectors(texts) @ self._vectors(candidates).T).max(axis=0)
        index = int(scores.argmax())
        return float(scores[index]), candidates[index]

    def between(self, left: str, right: str) -> float:
        return self.closest([left], [right])[0]

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        new = [t for t in dict.fromkeys(texts) if t not in self._cache]
        if new:
            self._cache.update(zip(new, self._encode(new), strict=True))
        return np.stack([self._cache[t] for t in texts])
