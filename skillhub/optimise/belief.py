"""What screening trials say about a document on a slice: Beta posteriors, compared on a grid.

Scores in [0, 1] count as parts of a success. Screening is no proof, only the ground on which the search spends trials.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

CELLS = 400
"""Of the grid on which posteriors are compared."""
_GRID = (np.arange(CELLS) + 0.5) / CELLS


@dataclass(frozen=True)
class Belief:
    """Beta(1/2 + successes, 1/2 + failures) over a mean score."""

    successes: float = 0.0
    failures: float = 0.0

    @classmethod
    def of(cls, parts: Iterable["Belief"]) -> "Belief":
        """Of several slices taken together."""
        parts = list(parts)
        return cls(sum(part.successes for part in parts), sum(part.failures for part in parts))

    @property
    def trials(self) -> float:
        return self.successes + self.failures

    @property
    def mean(self) -> float:
        return (self.successes + 0.5) / (self.trials + 1.0)

    def after(self, scores: Sequence[float | None]) -> "Belief":
        """With more scores; a run that could not be made says nothing."""
        known = [score for score in scores if score is not None]
        return replace(self, successes=self.successes + sum(known), failures=self.failures + len(known) - sum(known))

    @property
    def weights(self) -> np.ndarray:
        """Probability of each cell of the grid, shape [CELLS]."""
        return _weights(self.successes + 0.5, self.failures + 0.5)

    def exceeds(self, other: "Belief", *, by: float) -> float:
        """Probability that this mean is above the other by `by`."""
        above = np.cumsum(self.weights[::-1])[::-1] - 0.5 * self.weights  # that this mean is above the middle of a cell
        return float(np.interp(_GRID + by, _GRID, above, left=1.0, right=0.0) @ other.weights)

    def below(self, bound: float) -> float:
        """Probability that this mean is below the bound."""
        return float(self.weights[bound > _GRID].sum())


@lru_cache(maxsize=4096)
def _weights(a: float, b: float) -> np.ndarray:
    logs = (a - 1.0) * np.log(_GRID) + (b - 1.0) * np.log1p(-_GRID)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()
