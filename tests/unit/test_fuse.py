"""Rankings are fused by rank alone."""

from skillhub.retrieval.fuse import reciprocal_rank


def test_what_both_rankings_find_comes_first() -> None:
    assert [item for item, _ in reciprocal_rank(["a", "b", "c"], ["d", "b"])] == ["b", "a", "d", "c"]


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    assert dict(reciprocal_rank(["a", "b"], ["b"])) == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}


def test_a_single_ranking_keeps_its_order() -> None:
    assert [item for item, _ in reciprocal_rank([], ["c", "a", "b"])] == ["c", "a", "b"]


def test_ties_keep_the_order_of_the_first_ranking() -> None:
    assert [item for item, _ in reciprocal_rank(["a", "b"], ["b", "a"])] == ["a", "b"]


def test_nothing_gives_nothing() -> None:
    assert reciprocal_rank([], []) == []
