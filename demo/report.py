"""What the demo found, as one table for people and one JSON object for programs."""

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table


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
            "url": self.url,
        }

    def print(self, console: Console) -> None:
        table = Table(title="ScienceWorld, test variations never seen before", show_lines=True)
        for heading in ("task type", "without", "with", "versions shown", "candidates"):
            table.add_column(heading, justify="right" if heading in ("without", "with") else "left")
        for task in self.tasks:
            table.add_row(
                task.task,
                f"{fmean(task.baseline):.2f}",
                f"{fmean(task.final):.2f}",
                "\n".join(task.shown) or "none",
                _lines(task.verdicts),
            )
        summary = self.as_json()
        table.add_row("mean", f"{summary['baseline_score']:.2f}", f"{summary['final_score']:.2f}", "", _lines(self.rules))
        console.print(table)
        times = ", ".join(f"{name} {seconds:.0f}" for name, seconds in self.stages.items())
        console.print(f"{self.trials} gate trials. {self.seconds:.0f} s in all: {times}.")
        console.print("Follow any sentence back to its episodes:")
        console.print(self.url, soft_wrap=True)


def _lines(verdicts: list[Verdict]) -> str:
    return "\n".join(f"{v.verdict}: {v.skill} ({v.proposer}): {v.reason}" for v in verdicts) or "none"
