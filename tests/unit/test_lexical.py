"""Any text is a query; rare words weigh more; scripts without spaces are found too."""

import numpy as np
import pytest

from skillhub.retrieval.lexical import LexicalIndex, terms

TEXTS = ["boil water on the stove", "grow a plant in a pot of water", "用炉子把水煮沸", "open the blue doors", "données en été"]


@pytest.fixture
def index() -> LexicalIndex:
    index = LexicalIndex()
    index.add(TEXTS)
    return index


def found(index: LexicalIndex, query: str, allowed: tuple[int, ...] = (0, 1, 2, 3, 4)) -> list[int]:
    mask = np.isin(np.arange(len(index)), allowed)
    return [position for position, _ in index.search([query], allowed=mask, k=10)[0]]


@pytest.mark.parametrize(
    ("query", "position"),
    [
        ("stove", 0),
        ("STOVES!", 0),
        ("plants and pots", 1),
        ("煮沸", 2),
        ("水", 2),
        ("door", 3),
        ("été", 4),
        ("e\u0301te\u0301", 4),
    ],
)
def test_a_word_of_a_text_finds_it_first(index: LexicalIndex, query: str, position: int) -> None:
    assert found(index, query)[:1] == [position]


def test_a_word_inside_a_run_without_spaces_is_found(index: LexicalIndex) -> None:
    index.add(["混合检索模型"])
    assert found(index, "检索", allowed=(0, 1, 2, 3, 4, 5)) == [5]


def test_a_rare_word_outweighs_a_common_one(index: LexicalIndex) -> None:
    assert found(index, "water stove") == [0, 1]
    assert found(index, "water plant") == [1, 0]


def test_only_allowed_positions_are_found(index: LexicalIndex) -> None:
    assert found(index, "water", allowed=(1,)) == [1]
    assert found(index, "water", allowed=()) == []


@pytest.mark.parametrize(
    "query", ["", " ", "(", '"(', "a|b", "-x", "C:\\a/b", "' OR 1=1; --", "\x00", "!&|:*<->", "the of and", "\ud800"]
)
def test_no_text_is_an_error(index: LexicalIndex, query: str) -> None:
    assert found(index, query) == []


def test_a_text_added_later_is_found_and_changes_what_is_rare(index: LexicalIndex) -> None:
    before = dict(index.search(["stove"], allowed=np.ones(5, bool), k=10)[0])
    index.add(["a stove"])
    after = dict(index.search(["stove"], allowed=np.ones(6, bool), k=10)[0])
    assert set(after) == {0, 5}
    assert after[0] < before[0]


def test_texts_that_are_not_allowed_do_not_change_a_score(index: LexicalIndex) -> None:
    before = index.search(["water stove"], allowed=np.ones(5, bool), k=10)
    index.add(["water, water and a stove"])
    assert index.search(["water stove"], allowed=np.arange(6) < 5, k=10) == before


def test_an_empty_index_finds_nothing() -> None:
    assert LexicalIndex().search(["water"], allowed=np.zeros(0, bool), k=5) == [[]]


def test_plurals_meet_their_singular() -> None:
    assert list(terms("stoves berries glass bus boxes")) == ["stove", "berry", "glass", "bus", "boxe"]
