"""Is the candidate clearly harmful? Stops a bad candidate early (gate rule 4)."""

import math

from skillhub.gate.betting import Wealth, wealth
from skillhub.gate.policy import Policy


def process(policy: Policy, *, margin: float) -> Wealth:
    """`prod(1 - lambda (d + margin))`. H0: mean d >= -margin.

    The margin is beta on a protected slice. On the target slice it is 0: a candidate that is worse there cannot improve it.
    """
    return wealth(direction=-1, shift=margin, boldness=policy.boldness, hedge=policy.harm_hedge)


def log_bar(policy: Policy, *, slices: int) -> float:
    """Bar for each of `slices` tests, so that all together keep `alpha_harm`."""
    return math.log(slices / policy.alpha_harm)
