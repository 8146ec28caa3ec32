"""Error budget over the stream of candidates of one suite: e-LOND, Xu and Ramdas, arXiv 2311.06412 (gate rule 6)."""

import math


def gamma(k: int) -> float:
    """Share of the k-th candidate, k = 1, 2, ...; the shares sum to 1."""
    return 6.0 / (math.pi * k) ** 2


def e_lond_alpha(alpha: float, *, k: int, accepted: int) -> float:
    """Level of the k-th candidate when `accepted` of the earlier ones were: keeps the false discovery rate at `alpha`,
    however the candidates depend on each other."""
    return alpha * gamma(k) * (accepted + 1)
