"""Does the candidate leave alone what works? Hypothesis to refute: it costs `beta` or more on average (gate rule 3)."""

import math

from skillhub.gate.betting import Wealth, wealth
from skillhub.gate.policy import Policy


def process(policy: Policy) -> Wealth:
    """`M_t = prod(1 + lambda_i (d_i + beta))`, lambda in `[0, boldness / (1 - beta)]`. H0: mean d <= -beta."""
    return wealth(direction=1, shift=policy.beta, boldness=policy.boldness, hedge=policy.protect_hedge)


def least_pairs(beta: float, alpha: float) -> int:
    """Pairs that any such test needs to certify where no difference is seen at all."""
    return math.ceil(math.log(1.0 / alpha) / -math.log1p(-beta))
