"""The constants of a search in one value."""

from dataclasses import dataclass


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
    least_commit: int = 40
    """A commit with fewer trials than that is not tried."""
    rounds: int = 200
    """Proposals at most."""

    @property
    def screen_trials(self) -> int:
        """What the screen of one repair may cost."""
        return self.target_trials + self.strong_trials

    def least_budget(self, slices: int) -> int:
        """Trials that pay for the survey, one repair and a commit."""
        return slices * self.survey + self.anchor + self.screen_trials + self.least_commit
