"""Which variations of each task type play which part. In: the simulator's splits; out: fixed, disjoint lists."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillhub.curation.rules import ANY

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
    """Spread the choice over each split of the simulator.

    Where the dev split is too small for a decision, training variations that extraction never sees are added to it.
    """
    train = spread(variations(task, "train"), TRAIN)
    dev = spread(variations(task, "dev"), DEV)
    unseen = [number for number in variations(task, "train") if number not in train]
    dev += spread(unseen, DEV - len(dev))
    return TaskPlan(task=task, train=tuple(train), dev=tuple(dev), test=tuple(spread(variations(task, "test"), TEST)))


def spread(items: Sequence[int], count: int) -> list[int]:
    """At most `count` of the items, evenly spaced, in order."""
    if len(items) <= count:
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


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
