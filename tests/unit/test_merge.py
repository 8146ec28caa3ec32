"""Merging three versions loses no side's edit and names what contradicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillhub.documents.merge import merge_parts
from skillhub.errors import Conflict

PARTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3))


@given(PARTS, PARTS)
def test_a_side_that_changed_nothing_gives_the_other_in_its_order(base, side):
    for merged in (merge_parts(base, side, base), merge_parts(base, base, side), merge_parts(base, side, side)):
        assert list(merged.items()) == list(side.items())


@given(PARTS, PARTS, PARTS)
def test_sides_swap_and_no_edit_is_lost(base, left, right):
    try:
        merged = merge_parts(base, left, right)
    except Conflict:
        with pytest.raises(Conflict):
            merge_parts(base, right, left)
        return
    assert merged == merge_parts(base, right, left)
    for side in (left, right):
        assert all(merged.get(key) == side.get(key) for key in {*base, *side} if base.get(key) != side.get(key))


def test_a_conflict_names_the_part_and_what_each_side_says():
    with pytest.raises(Conflict, match="'steps': left says 'boil', right says removed"):
        merge_parts({"steps": "heat"}, {"steps": "boil"}, {})
