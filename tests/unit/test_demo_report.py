"""What the demo reports of a run."""

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


def test_the_text_says_why_each_candidate_passed_or_not() -> None:
    lines = REPORT.text().splitlines()
    assert "accepted   boil (extract): it helps." in lines
    assert "rejected   melt (copied-trace): it harms." in lines
    assert "undecided  look-first (extract): no difference." in lines
    assert lines[-1] == REPORT.url


def test_the_scores_stand_in_one_line_for_each_task_type() -> None:
    lines = REPORT.text().splitlines()
    assert lines[1].split() == ["boil", "0.25", "0.75", "boil@1"]
    assert lines[3].split() == ["mean", "0.12", "0.38"]
