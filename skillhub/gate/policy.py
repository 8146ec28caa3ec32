"""All constants of the test in one value, stored with the gate so that its decision can be replayed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from skillhub.errors import Invalid

_HUGE = 1e9
"""No constant comes near; infinities and integers that no float can hold stop here."""
_RANGES: dict[str, tuple[float, float]] = {
    "alpha": (1e-6, 0.25),
    "alpha_protect": (1e-6, 0.25),
    "alpha_harm": (1e-6, 0.25),
    "beta": (0.005, 0.5),
    "boldness": (0.1, 0.9999),
    "hedge": (0.001, 0.999),
    "harm_hedge": (0.001, 0.999),
    "protect_hedge": (0.001, 0.999),
    "max_pairs": (1, 1000),
    "protect_pairs": (1, 1000),
    "most_pairs": (1, 1_000_000),
    "optimism": (0.5, 4.0),
    "protect_optimism": (0.5, 4.0),
    "futility_pairs": (1, 1000),
    "open_pairs": (1, 256),
    "locked_runs": (1, 100),
}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How a candidate is tested. Out of range is Invalid."""

    improve: str = "betting"
    """`betting` for graded scores, `sign` for fixes and breaks only."""
    alpha: float = 0.05
    """False discoveries tolerated over all candidates of the suite."""
    alpha_protect: float = 0.05
    alpha_harm: float = 0.05
    beta: float = 0.15
    """Mean loss of score from which on a protected slice counts as damaged."""
    max_pairs: int = 40
    """Pairs of the target at most; fewer where it has fewer cases."""
    protect_pairs: int = 160
    """The same for a protected slice."""
    most_pairs: int = 1_000_000
    """Pairs of all slices together at most."""
    futility_pairs: int = 6
    """From this pair on, the remaining pairs are hoped to be no better than those seen allow. The test goes on all the same
    where about as many pairs more would show harm, because a rejection says more than a doubt."""
    optimism: float = 1.3
    """Deviations by which the pairs left of the target are hoped to be better than those seen. Less stops sooner and proves
    less."""
    protect_optimism: float = 1.6
    """The same for a protected slice."""
    boldness: float = 0.999
    hedge: float = 0.8
    """Share of the stake on smaller bets: more survives noise, less decides sooner."""
    harm_hedge: float = 0.5
    """The same for harm."""
    protect_hedge: float = 0.8
    """Where outcomes do not vary by chance, 0.02 certifies in the least number of pairs possible."""
    open_pairs: int = 4
    """Pairs under way at a time."""
    locked_slices: tuple[str, ...] = ()
    """Slices where one worse score rejects, and where every case must be run; not the target and not protected."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names under which several slices count as one, as target or as protected: their cases are drawn together, and one proof
    speaks of them all. A loss in one of them may hide behind a gain in another, so group what should fare alike."""
    locked_runs: int = 3
    """Times that each locked case is run: what must never break has to hold each time."""

    def __post_init__(self) -> None:
        if self.improve not in ("betting", "sign"):
            raise Invalid(f"policy.improve: {self.improve!r} is neither betting nor sign", path="/policy/improve")
        for name, (least, most) in _RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise Invalid(f"policy.{name}: {getattr(self, name)!r} is not in [{least}, {most}]", path=f"/policy/{name}")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Policy":
        """From a JSON object; a missing constant has its default, an unknown one is Invalid."""
        unknown = sorted(values.keys() - {field.name for field in fields(cls)})
        if unknown:
            raise Invalid(f"policy.{unknown[0]}: there is no such constant", path=f"/policy/{unknown[0]}")
        return cls(**{name: _typed(name, value) for name, value in values.items()})

    def as_json(self) -> dict[str, Any]:
        groups = {name: list(members) for name, members in self.groups.items()}
        return asdict(self) | {"locked_slices": list(self.locked_slices), "groups": groups}

    def members(self, name: str) -> tuple[str, ...]:
        """The slices that count under this name; a slice stands for itself."""
        return tuple(self.groups.get(name, (name,)))


def _typed(name: str, value: Any) -> Any:
    """The value with the type of its default; Invalid where it is of another kind."""
    if name == "groups":
        return _groups(value)
    default = getattr(Policy, name)
    if isinstance(default, tuple) and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if isinstance(default, str) and isinstance(value, str):
        return value
    numeric = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _HUGE
    if isinstance(default, int | float) and numeric and (isinstance(default, float) or value == int(value)):
        return type(default)(value)
    raise Invalid(f"policy.{name}: {value!r} is not of the right type", path=f"/policy/{name}")


def _groups(value: Any) -> dict[str, tuple[str, ...]]:
    """Names with at least one slice each; no slice in two of them."""
    if not isinstance(value, Mapping):
        raise Invalid("policy.groups: not an object of lists of slices", path="/policy/groups")
    seen: set[str] = set()
    for name, members in value.items():
        place = f"/policy/groups/{name}"
        if not isinstance(members, list | tuple) or not members or not all(isinstance(member, str) for member in members):
            raise Invalid(f"policy.groups.{name}: not a list of slices", path=place)
        if twice := sorted(member for member in set(members) if member in seen or list(members).count(member) > 1):
            raise Invalid(f"policy.groups.{name}: slice {twice[0]!r} stands in the groups twice", path=place)
        seen |= set(members)
    return {name: tuple(members) for name, members in value.items()}
