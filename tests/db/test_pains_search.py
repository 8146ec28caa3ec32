"""What users of such stores suffer from in search; the numbers are those of `../shared/stores.md`, section 5."""

import numpy as np
import pytest

from skillhub.retrieval import search as pipeline
from skillhub.retrieval.reader import Reader
from skillhub.services import skills, versions
from skillhub.services.scope import Scope
from skillhub.services.search import Searcher
from tests.db.test_reader import WordEncoder, found, in_index, publish


class WideEncoder(WordEncoder):
    """Another model: twice as many dimensions."""

    @staticmethod
    def _vector(word: str) -> np.ndarray:
        return np.tile(WordEncoder._vector(word), 2)


class Broken:
    """A cross-encoder that is down."""

    def scores(self, query: str, skill_ids: list[str]) -> list[float]:
        raise ConnectionError("the cross-encoder is down")


class Fixed:
    """A cross-encoder that gives the scores it was told, in turn."""

    def __init__(self, *scores: float) -> None:
        self._scores = scores

    def scores(self, query: str, skill_ids: list[str]) -> list[float]:
        return list(self._scores[: len(skill_ids)])


@pytest.fixture
def reader(scope: Scope) -> Reader:
    return Reader(scope.database, WordEncoder())


@pytest.fixture
def searcher(reader: Reader) -> Searcher:
    return Searcher(reader, wait_seconds=10)


def ranked(reader: Reader, scope: Scope, reranker: pipeline.Reranker | None = None) -> list[pipeline.Ranked]:
    reader.catch_up(scope.workspace_id)
    index = reader.index(scope.workspace_id)
    return pipeline.search(index, reader.encoder, ["water"], label="production", kind=None, k=10, reranker=reranker)[0]


def test_3_and_4_a_retired_skill_stays_away_after_the_index_is_built_anew(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    publish(scope, "pour-water", "Pour water into a cup.")
    assert len(found(searcher, scope, "water")) == 2
    skills.retire(scope, name="boil-water", reason="harmful")
    for each in (searcher, Searcher(Reader(scope.database, WordEncoder()), wait_seconds=10)):
        for query in ("boil water on a stove", "boil-water", "stove"):
            assert found(each, scope, query) == ["pour-water"]


def test_6_a_retired_skill_leaves_nothing_behind_in_the_index_and_everything_in_the_history(
    scope: Scope, searcher: Searcher
) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == ["boil-water"]
    skills.retire(scope, name="boil-water", reason="harmful")
    fresh = Reader(scope.database, WordEncoder())
    fresh.catch_up(scope.workspace_id)
    assert (in_index(fresh, scope, "production"), len(fresh.index(scope.workspace_id))) == (set(), 0)
    assert skills.get(scope, "boil-water").latest.version.number == 1


def test_7_a_model_of_another_dimension_breaks_no_write_and_no_search(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == ["boil-water"]
    wide = Searcher(Reader(scope.database, WideEncoder("words-2")), wait_seconds=10)
    publish(scope, "pour-water", "Pour water into a cup.")
    assert sorted(found(wide, scope, "water")) == sorted(found(searcher, scope, "water")) == ["boil-water", "pour-water"]


def test_9_one_hit_keeps_the_score_it_was_given(scope: Scope, reader: Reader) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    [hit] = ranked(reader, scope, Fixed(0.37))
    assert (hit.score, hit.parts["rerank"]) == (0.37, 0.37)


def test_9_two_hits_keep_two_scores_and_their_order(scope: Scope, reader: Reader) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    publish(scope, "pour-water", "Pour water into a cup.")
    assert [hit.score for hit in ranked(reader, scope, Fixed(0.2, 0.9))] == [0.9, 0.2]


def test_9_without_its_cross_encoder_a_search_answers_in_the_fused_order_and_says_so(scope: Scope, reader: Reader) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    publish(scope, "pour-water", "Pour water into a cup.")
    hits = ranked(reader, scope, Broken())
    assert hits == ranked(reader, scope)
    assert not any("rerank" in hit.parts for hit in hits)


def test_14_of_two_long_texts_that_differ_at_the_end_each_is_found_by_its_end(scope: Scope, searcher: Searcher) -> None:
    body = " ".join(f"word{number}" for number in range(20_000))
    for name, end in (("first", "marmalade"), ("second", "bicycle")):
        document = f"---\nname: {name}\ndescription: Long.\n---\n\n# Long\n\n{body} {end}\n"
        with scope.transaction() as unit:
            versions.publish_in(unit, name=name, kind="skill", document=document)
    assert found(searcher, scope, "marmalade", k=1) == ["first"]
    assert found(searcher, scope, "bicycle", k=1) == ["second"]
