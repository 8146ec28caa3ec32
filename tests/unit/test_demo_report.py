"""What the demo reports of a run."""

from io import StringIO

from rich.console import Console

from demo.report import Report, TaskReport, Verdict

REPORT = Report(
    tasks=[
        TaskReport("boil", [0.0, 0.5], [1.0, 0.5], ["boil@1"], [Verdict("boil", "extract", "accepted", "it helps.")]),
        TaskReport("melt", [0.0], [0.0], [], [Verdict("melt", "copied-trace", "rejected", "it harms.")]),
    ],
    rules=[Verdict("look-first", "extract", "undecided", "no difference.")],
    trials=12,
    url="http://127.0.0.1:1/ui",
)


def test_the_scores_are_means_over_task_types_and_not_over_episodes() -> None:
    summary = REPORT.as_json()
    assert (summary["baseline_score"], summary["final_score"]) == (0.125, 0.375)
    assert summary["per_task"]["boil"]["final_score"] == 0.75


def test_every_verdict_is_counted_once_rules_included() -> None:
    summary = REPORT.as_json()
    assert [summary[verdict] for verdict in ("accepted", "rejected", "undecided", "error")] == [1, 1, 1, 0]


def test_the_table_says_why_each_candidate_passed_or_not() -> None:
    output = StringIO()
    REPORT.print(Console(file=output, width=200))
    for reason in ("it helps.", "it harms.", "no difference.", "http://127.0.0.1:1/ui"):
        assert reason in output.getvalue()
