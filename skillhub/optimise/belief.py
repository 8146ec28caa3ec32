"""What screening trials say about a document on a slice: Beta posteriors, compared without drawing from them.

Scores in [0, 1] count as parts of a success. Screening is no proof, only the ground on which the search spends trials.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


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

    @property
    def variance(self) -> float:
        return self.mean * (1.0 - self.mean) / (self.trials + 2.0)

    def after(self, scores: Sequence[float | None]) -> "Belief":
        """With more scores; a run that could not be made says nothing."""
        known = [score for score in scores if score is not None]
        return replace(self, successes=self.successes + sum(known), failures=self.failures + len(known) - sum(known))

    def exceeds(self, other: "Belief", *, by: float) -> float:
        """Probability that this mean is above the other by `by`, with both posteriors taken as normal."""
        spread = math.sqrt(self.variance + other.variance)
        return 0.5 * math.erfc(-(self.mean - other.mean - by) / (spread * math.sqrt(2.0)))
