"""Which variations play which part in the demo."""

from collections.abc import Sequence

from demo.plan import DEV, TEST, TRAIN, cases, cases_of_any, plan_task
from skillhub.evaluation.cases import CaseInput, check

SPLITS = {"train": range(0, 40), "dev": range(40, 44), "test": range(44, 90)}


def variations(task: str, split: str) -> Sequence[int]:
    return SPLITS[split]


def test_no_variation_plays_two_parts() -> None:
    plan = plan_task("boil", variations)
    assert (len(plan.train), len(plan.dev), len(plan.test)) == (TRAIN, DEV, TEST)
    assert len({*plan.train, *plan.dev, *plan.test}) == TRAIN + DEV + TEST


def test_the_final_comparison_uses_the_simulators_test_split_alone() -> None:
    assert set(plan_task("boil", variations).test) <= set(SPLITS["test"])


def test_a_small_dev_split_is_filled_up_with_training_variations_that_extraction_never_sees() -> None:
    plan = plan_task("boil", variations)
    assert set(SPLITS["dev"]) <= set(plan.dev)
    assert set(plan.dev) - set(SPLITS["dev"]) <= set(SPLITS["train"]) - set(plan.train)


def test_the_same_task_is_planned_the_same_way_each_time() -> None:
    assert plan_task("boil", variations) == plan_task("boil", variations)


def test_the_plan_makes_suites_that_the_hub_takes() -> None:
    plans = [plan_task(task, variations) for task in ("boil", "melt")]
    for suite in (cases(plans[0]), cases_of_any(plans)):
        check([CaseInput(**case) for case in suite])
    assert {case["split"] for case in cases_of_any(plans)} == {"dev"}
