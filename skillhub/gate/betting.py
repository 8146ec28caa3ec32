"""Wealth of a bettor against a hypothesis: the one engine under improve, protect and harm.

A bettor who may only lose in expectation while the hypothesis holds, and has grown one unit to 1/alpha, has refuted it at
level alpha, whenever he looked and whenever he stopped (Ville). Waudby-Smith and Ramdas, arXiv 2010.09686. The stake is split
once over a few fixed fractions of the largest safe bet; the whole is then a predictable bet in [0, largest].
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol, Self

FRACTIONS = (1.0, 0.75, 0.5, 0.25, 0.125)
"""Bets, as fractions of the largest safe one."""
_HEDGES = (8, 4, 2, 1)
"""How the hedge is split over the smaller bets."""


class Process(Protocol):
    """Evidence against a hypothesis that grows pair by pair."""

    @property
    def log(self) -> float:
        """Natural logarithm of the e-value."""

    def after(self, d: float, *, times: int = 1) -> Self:
        """The process after `times` more differences `d` in [-1, 1]."""


@dataclass(frozen=True)
class Wealth:
    """Betting process on `x = direction * (d + shift)`, hypothesis: mean x <= 0."""

    direction: int
    shift: float
    bets: tuple[float, ...]
    logs: tuple[float, ...]
    """Logarithm of what each part of the stake has become."""

    @property
    def log(self) -> float:
        top = max(self.logs)
        return top + math.log(math.fsum(math.exp(part - top) for part in self.logs))

    def after(self, d: float, *, times: int = 1) -> "Wealth":
        x = self.direction * (d + self.shift)
        grown = tuple(part + times * math.log1p(bet * x) for part, bet in zip(self.logs, self.bets, strict=True))
        return replace(self, logs=grown)


def wealth(*, direction: int, shift: float, boldness: float, hedge: float) -> Wealth:
    """A unit stake. `boldness` < 1 is the part of the stake that the worst difference may take from the largest bet;
    `hedge` is the share put on smaller bets, which survive differences against the claim."""
    most = boldness / (1.0 - direction * shift)
    shares = [1.0 - hedge, *(hedge * part / sum(_HEDGES) for part in _HEDGES)]
    return Wealth(
        direction=direction,
        shift=shift,
        bets=tuple(most * fraction for fraction in FRACTIONS),
        logs=tuple(math.log(share) for share in shares),
    )
