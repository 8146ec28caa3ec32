"""Which variations of each task type play which part. In: the simulator's splits; out: fixed, disjoint lists."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillhub.curation.rules import ANY

SEED = 7
TRAIN, DEV, TEST = 8, 16, 6
"""Variations a task type gets for extraction, for the gate and for the final comparison, at most."""


@dataclass(frozen=True)
class TaskPlan:
    """Variation numbers of one task type; the three lists share none."""

    task: str
    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]


def plan_task(task: str, variations: Callable[[str, str], Sequence[int]]) -> TaskPlan:
    """Draw from each split of the simulator, the same draw every time.

    Where the dev split is too small for a decision, training variations that extraction never sees are added to it.
    """
    train = draw(variations(task, "train"), TRAIN)
    dev = draw(variations(task, "dev"), DEV)
    unseen = [number for number in variations(task, "train") if number not in train]
    dev += draw(unseen, DEV - len(dev))
    return TaskPlan(task=task, train=tuple(train), dev=tuple(dev), test=tuple(draw(variations(task, "test"), TEST)))


def draw(items: Sequence[int], count: int) -> list[int]:
    """At most `count` of the items at random, in order. Evenly spaced ones would keep step with the simulator's numbering,
    so that every box, say, is red."""
    return sorted(random.Random(SEED).sample(list(items), min(count, len(items))))


def cases_of_any(plans: Sequence[TaskPlan]) -> list[dict]:
    """The dev cases of all plans as one suite of one slice."""
    return [
        case | {"key": f"{plan.task}/{case['key']}", "slice": ANY}
        for plan in plans
        for case in cases(plan)
        if case["split"] == "dev"
    ]


def cases(plan: TaskPlan) -> list[dict]:
    """The plan as cases of a suite."""
    splits = {"train": plan.train, "dev": plan.dev, "test": plan.test}
    return [
        {"key": f"{split}-{number}", "split": split, "slice": plan.task, "spec": {"task": plan.task, "variation": number}}
        for split, numbers in splits.items()
        for number in numbers
    ]
