"""Merging loses no side's edit, names what contradicts, and keeps what neither side touched to the last byte."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skillhub.documents import Document, parse
from skillhub.documents.archive import BundledFile, Content
from skillhub.documents.edits import apply
from skillhub.documents.merge import merge, merge_parts
from skillhub.documents.sections import sections
from skillhub.errors import MergeConflict
from tests.unit.test_document_properties import OPTIONS, documents, parts

PARTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3))
TEXT = "---\nname: tea\ndescription: Makes tea.\n---\n\n# Tea\n\n## Steps\n\nBoil.\n\n## Notes\n\nHot.\n"


def merged(left: str, right: str, *, base: str = TEXT) -> str:
    """The merged text, which is the same with the sides swapped."""
    found = merge(Content(base, []), Content(left, []), Content(right, [])).document
    assert merge(Content(base, []), Content(right, []), Content(left, [])).document == found
    return found


def faults(left: str, right: str, *, base: str = TEXT) -> list[str]:
    with pytest.raises(MergeConflict) as caught:
        merged(left, right, base=base)
    return [fault["path"] for fault in caught.value.errors]


@given(PARTS, PARTS)
def test_a_side_that_changed_nothing_gives_the_other_in_its_order(base: dict, side: dict) -> None:
    for left, right in ((side, base), (base, side), (side, side)):
        found, faults = merge_parts(base, left, right, place="")
        assert (list(found.items()), faults) == (list(side.items()), [])


@given(PARTS, PARTS, PARTS)
def test_sides_swap_and_no_edit_is_lost(base: dict, left: dict, right: dict) -> None:
    found, faults = merge_parts(base, left, right, place="")
    swapped, same_faults = merge_parts(base, right, left, place="")
    assert {fault["path"] for fault in faults} == {fault["path"] for fault in same_faults}
    if not faults:
        assert found == swapped
        for side in (left, right):
            assert all(found.get(key) == side.get(key) for key in {*base, *side} if base.get(key) != side.get(key))


def test_edits_of_different_sections_and_fields_are_both_there() -> None:
    left = TEXT.replace("Boil.", "Boil well.").replace("---\n\n#", "license: MIT\n---\n\n#")
    right = TEXT.replace("Hot.", "Very hot.").replace("Makes tea.", "Makes good tea.")
    both = left.replace("Hot.", "Very hot.").replace("Makes tea.", "Makes good tea.")
    assert merged(left, right) == both


def test_what_contradicts_is_named_all_of_it() -> None:
    left = TEXT.replace("Boil.", "Boil well.").replace("Makes tea.", "Makes good tea.")
    right = TEXT.replace("Boil.", "Boil long.").replace("Makes tea.", "Makes strong tea.")
    assert faults(left, right) == ["/frontmatter/description", "/sections/steps"]
    assert faults(left, TEXT.replace("## Steps\n\nBoil.\n\n", "")) == ["/sections/steps"]
    with pytest.raises(MergeConflict, match="/sections/steps: left changed it, right removed it"):
        merged(left, TEXT.replace("## Steps\n\nBoil.\n\n", ""))


def test_both_may_add_sections_at_the_end_of_a_text_without_a_last_line_break() -> None:
    base = TEXT.rstrip()
    left, right = f"{base}\n\n## Cautions\n\nSteam.", f"{base}\n\n## Cups\n\nTwo."
    found = merge(Content(base, []), Content(left, []), Content(right, [])).document
    assert found == f"{base}\n\n## Cautions\n\nSteam.\n\n## Cups\n\nTwo."
    assert merged(f"{base}\n\n## Cups\n\nTwo.\n", base.replace("Hot", "Warm"), base=base).endswith("Warm.\n\n## Cups\n\nTwo.\n")


def test_entries_of_metadata_are_merged_one_by_one() -> None:
    base = TEXT.replace("---\n\n#", "metadata:\n  a: 1\n  b: 2\n---\n\n#")
    found = merged(base.replace("a: 1", "a: 3"), base.replace("b: 2\n", "b: 2\n  c: 4\n"), base=base)
    assert parse(found).metadata == {"a": "3", "b": "2", "c": "4"}
    assert faults(base.replace("a: 1", "a: 3"), base.replace("a: 1", "a: 4"), base=base) == ["/frontmatter/metadata.a"]
    assert parse(merged(base.replace("  a: 1\n", ""), base.replace("  b: 2\n", ""), base=base)).metadata == {}


def test_a_section_moved_by_one_side_keeps_the_edit_of_the_other() -> None:
    moved = apply(TEXT, [{"op": "move", "anchor": "notes", "after": "tea"}])
    found = merged(moved, TEXT.replace("Hot.", "Very hot."))
    assert [section.anchor for section in sections(parse(found))] == ["", "tea", "notes", "steps"]
    assert "Very hot." in found


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (TEXT.replace("Boil.", "Boil.\n\n```\nnever closed"), TEXT + "\n## Cups\n\nTwo.\n"),
        (TEXT.replace("## Notes\n\nHot.\n", ""), TEXT + "\n### More\n\nHotter.\n"),
        (TEXT.replace("---\n\n#", "metadata:\n  a: 1\n---\n\n#"), TEXT.replace("---\n\n#", "metadata:\n    b: 1\n---\n\n#")),
    ],
    ids=["an open fence", "an orphan", "indents that differ"],
)  # fmt: skip
def test_parts_that_would_be_read_as_others_are_a_conflict(left: str, right: str) -> None:
    assert faults(left, right) in (["/document"], ["/sections/notes"])


def test_files_are_merged_by_path() -> None:
    old, new = BundledFile("a.sh", 0o644, b"a"), BundledFile("a.sh", 0o755, b"a")
    more, other = BundledFile("b.sh", 0o644, b"b"), BundledFile("b.sh", 0o644, b"c")
    assert merge(Content(TEXT, [old]), Content(TEXT, [new]), Content(TEXT, [old, more])).files == [new, more]
    with pytest.raises(MergeConflict, match=r"/files/b\.sh: left changed it, right changed it"):
        merge(Content(TEXT, [old]), Content(TEXT, [old, other]), Content(TEXT, [old, more]))


@settings(**OPTIONS)
@given(documents(), st.data())
def test_edits_in_two_sections_merge_whatever_the_document(document: Document, data: st.DataObject) -> None:
    anchors = [section.anchor for section in sections(document)][1:]
    assume(len(anchors) >= 2)
    here, there = data.draw(st.lists(st.sampled_from(anchors), min_size=2, max_size=2, unique=True))
    left, right = ({"op": "replace", "anchor": anchor, "text": text} for anchor, text in ((here, "Left."), (there, "Right.")))
    found = merged(apply(document.text, [left]), apply(document.text, [right]), base=document.text)
    assert parts(parse(found)) == parts(parse(apply(document.text, [left, right])))


@settings(**OPTIONS)
@given(documents(), documents(), documents())
def test_a_merge_of_anything_is_a_valid_document_or_a_conflict(base: Document, left: Document, right: Document) -> None:
    try:
        found = merge(*(Content(side.text, []) for side in (base, left, right))).document
    except MergeConflict as error:
        assert error.errors
    else:
        assert parse(found).name == "a"
    assert merge(Content(base.text, []), Content(left.text, []), Content(base.text, [])).document == left.text
    assert merge(Content(base.text, []), Content(base.text, []), Content(right.text, [])).document == right.text
