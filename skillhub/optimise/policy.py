"""The constants of a search in one value."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from skillhub.errors import Invalid

_RANGES: dict[str, tuple[float, float]] = {
    "survey": (1, 100), "weak": (0.0, 1.0), "gain": (0.0, 1.0), "loss": (0.0, 1.0), "keep": (0.5, 0.9999),
    "target_trials": (1, 1000), "strong_trials": (1, 1000), "anchor": (0, 1000), "candidates": (1, 64),
    "commit_trials": (2, 100_000), "least_commit": (2, 10_000), "rounds": (1, 10_000),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SearchPolicy:
    """How a search spends its trials."""

    survey: int = 8
    """Trials of each slice before the first repair."""
    weak: float = 0.6
    """A slice is worth a repair where its believed mean is below."""
    gain: float = 0.25
    """A repair should raise a slice it targets by this much."""
    loss: float = 0.15
    """A repair should not lower the strong slices by this much."""
    keep: float = 0.99
    """A repair is kept where both are believed with this probability, dropped where one is doubted with it."""
    target_trials: int = 10
    """Screening trials of a repair on its targets at most."""
    strong_trials: int = 80
    """Screening trials of a repair on the strong slices at most."""
    anchor: int = 60
    """Trials of the base on the strong slices, which all repairs are compared with."""
    candidates: int = 1
    """Repairs asked for at a time."""
    commit_trials: int = 400
    """Trials of one commit at most."""
    least_commit: int = 100
    """A commit with fewer trials than that is not tried."""
    rounds: int = 200
    """Proposals at most."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "SearchPolicy":
        """From a JSON object; a missing constant has its default, an unknown one or one out of range is Invalid."""
        kinds = {field.name: type(field.default) for field in fields(cls)}
        for name, value in values.items():
            path = f"/policy/{name}"
            if name not in kinds:
                raise Invalid(f"policy.{name}: there is no such constant", path=path)
            least, most = _RANGES[name]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not least <= value <= most or kinds[name](value) != value:
                raise Invalid(f"policy.{name}: {value!r} is not in [{least}, {most}], or not whole", path=path)
        return cls(**{name: kinds[name](value) for name, value in values.items()})

    @property
    def screen_trials(self) -> int:
        """What the screen of one repair may cost."""
        return self.target_trials + self.strong_trials

    def least_budget(self, slices: int) -> int:
        """Trials that pay for the survey, one repair and a commit."""
        return slices * self.survey + self.anchor + self.screen_trials + self.least_commit
