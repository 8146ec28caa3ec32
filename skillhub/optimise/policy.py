"""The constants of a search in one value."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from skillhub.errors import Invalid

_SURE = (0.5, 0.9999)
_RANGES: dict[str, tuple[float, float]] = {
    "survey": (1, 100), "survey_most": (1, 1000), "survey_sure": _SURE, "weak": (0.0, 1.0), "strong": (0.0, 1.0),
    "gain": (0.0, 1.0), "loss": (0.005, 0.5), "keep": _SURE, "drop": (0.0001, 0.5), "spared": _SURE, "spared_apart": _SURE,
    "target_trials": (1, 1000), "guard_trials": (1, 1000), "anchor": (0, 1000), "candidates": (1, 64),
    "commit_trials": (2, 100_000), "proof_trials": (2, 1000), "least_commit": (2, 10_000), "rounds": (1, 10_000),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SearchPolicy:
    """How a search spends its trials."""

    survey: int = 8
    """Trials of each slice before the first repair."""
    survey_most: int = 20
    """The same at most, where fewer leave doubt whether a slice is weak."""
    survey_sure: float = 0.9
    """Probability that ends this doubt."""
    weak: float = 0.6
    """A slice is worth a repair where its believed mean is below."""
    strong: float = 0.5
    """A slice is guarded where its believed mean is not below. Between `strong` and `weak` it is both."""
    gain: float = 0.25
    """A repair should raise the slices it targets by this much."""
    loss: float = 0.25
    """A repair should not lower a guarded slice by this much: `beta` of the gates of this search too."""
    keep: float = 0.99
    """Probability of the gain that ends the trials of a repair on its targets."""
    drop: float = 0.05
    """A repair is dropped where the gain, or that a guarded slice is spared, has no more probability than this."""
    spared: float = 0.95
    """Probability that a guarded slice is spared which ends the trials of a repair on it."""
    spared_apart: float = 0.995
    """The same where a stack that was refused is taken apart."""
    target_trials: int = 12
    """Screening trials of a repair on its targets at most."""
    guard_trials: int = 80
    """Screening trials of a repair on all guarded slices at most."""
    anchor: int = 60
    """Trials of the base on the guarded slices, which all repairs are compared with."""
    candidates: int = 1
    """Repairs asked for at a time."""
    commit_trials: int = 400
    """Trials of one commit at most, unless `proof_trials` asks for more."""
    proof_trials: int = 60
    """Trials that a commit may take for each proof it needs."""
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
        return self.target_trials + self.guard_trials

    def least_budget(self, slices: int) -> int:
        """Trials that pay for the survey, one repair and a commit."""
        return slices * self.survey + self.anchor + self.screen_trials + self.least_commit
