"""The pure value of one rollout, as the stages see it: no ids of the database, no clock, no SQL."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TraceStep:
    """One turn: what was seen before acting, what was done, what came of it."""

    observation: str
    action: str
    reward: float = 0.0
    score: float = 0.0
    """Cumulative score after the action, in [0, 1]."""


@dataclass(frozen=True)
class Trace:
    """One episode. `slice` names the kind of task (in ScienceWorld: the task type)."""

    episode_id: str
    task: str
    """The task text as the agent read it."""
    slice: str
    steps: tuple[TraceStep, ...]
    score: float
    """Outcome in [0, 1]."""
    success: bool
