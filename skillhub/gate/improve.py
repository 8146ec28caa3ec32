"""Does the candidate help? Hypothesis to refute: it does not (gate rule 2)."""

import math
from dataclasses import dataclass, replace

from skillhub.gate.betting import Process, Wealth, wealth
from skillhub.gate.policy import Policy


def sign_log_e(fixes: int, breaks: int) -> float:
    """log E of the sign test, H0: P(fix | discordant) <= 1/2.

    `E = 2^(n+1) B(b+1, c+1) P(Beta(b+1, c+1) > 1/2)`, n = b + c; the tail is a sum of binomials, so it is exact.
    """
    n = fixes + breaks
    tail = term = 1
    for k in range(fixes):
        term = term * (n + 1 - k) // (k + 1)  # n + 1 over k + 1
        tail += term
    log_beta = math.lgamma(fixes + 1) + math.lgamma(breaks + 1) - math.lgamma(n + 2)
    return log_beta + math.log(tail)


@dataclass(frozen=True)
class Sign:
    """The sign test as a process: only the sign of a difference counts."""

    fixes: int = 0
    breaks: int = 0

    @property
    def log(self) -> float:
        return sign_log_e(self.fixes, self.breaks)

    def after(self, d: float, *, times: int = 1) -> "Sign":
        return replace(self, fixes=self.fixes + times * (d > 0), breaks=self.breaks + times * (d < 0))


def betting(policy: Policy) -> Wealth:
    """For graded scores. H0: mean d <= 0."""
    return wealth(direction=1, shift=0.0, boldness=policy.boldness, hedge=policy.hedge)


def process(policy: Policy) -> Process:
    """The process that the policy names."""
    return Sign() if policy.improve == "sign" else betting(policy)
