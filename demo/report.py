"""What the demo found, as one table for people and one JSON object for programs."""

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What the gate said of one candidate."""

    skill: str
    proposer: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class TaskReport:
    """One task type: scores in [0, 1] of the same test variations without and with what was accepted."""

    task: str
    baseline: list[float]
    final: list[float]
    shown: list[str]
    verdicts: list[Verdict]

    def as_json(self) -> dict[str, Any]:
        return {
            "baseline_score": round(fmean(self.baseline), 4),
            "final_score": round(fmean(self.final), 4),
            "baseline_scores": self.baseline,
            "final_scores": self.final,
            "versions_shown": self.shown,
            "candidates": [vars(verdict) for verdict in self.verdicts],
        }


@dataclass
class Report:
    """The whole run."""

    tasks: list[TaskReport]
    rules: list[Verdict]
    """Candidates that should hold for every task type."""
    trials: int
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds of each stage."""
    workspace: str = ""
    """The run's own."""
    url: str = ""
    """Opens the pages on which any published sentence is followed back to its episodes."""

    @property
    def verdicts(self) -> Counter[str]:
        verdicts = [*self.rules, *(verdict for task in self.tasks for verdict in task.verdicts)]
        return Counter(verdict.verdict for verdict in verdicts)

    def as_json(self) -> dict[str, Any]:
        return {
            "baseline_score": round(fmean(fmean(task.baseline) for task in self.tasks), 4),
            "final_score": round(fmean(fmean(task.final) for task in self.tasks), 4),
            "per_task": {task.task: task.as_json() for task in self.tasks},
            "rules": [vars(verdict) for verdict in self.rules],
            **{verdict: self.verdicts[verdict] for verdict in ("accepted", "rejected", "undecided", "error")},
            "trials": self.trials,
            "seconds": self.seconds,
            "stages": self.stages,
            "workspace": self.workspace,
            "url": self.url,
        }

    def text(self) -> str:
        """For people: a table of scores, a line for each candidate, times, and where to look further."""
        summary = self.as_json()
        rows = [(task.task, fmean(task.baseline), fmean(task.final), ", ".join(task.shown) or "none") for task in self.tasks]
        rows.append(("mean", summary["baseline_score"], summary["final_score"], ""))
        width = max(len(name) for name, *_ in rows)
        lines = [f"{'task type':{width}}  without  with  versions shown"]
        lines += [f"{name:{width}}  {before:7.2f}  {after:4.2f}  {shown}".rstrip() for name, before, after, shown in rows]
        lines += ["", *(_line(v) for task in self.tasks for v in task.verdicts), *map(_line, self.rules), ""]
        lines.append(f"{self.trials} gate trials. {self.seconds:.0f} s: {self._times()}.")
        return "\n".join([*lines, "Follow any sentence back to its episodes:", self.url])

    def _times(self) -> str:
        return ", ".join(f"{name} {seconds:.0f}" for name, seconds in self.stages.items())


def _line(verdict: Verdict) -> str:
    return f"{verdict.verdict:9}  {verdict.skill} ({verdict.proposer}): {verdict.reason}"
