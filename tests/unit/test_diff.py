"""A diff names each part that differs, and a section's text is a piece of the document."""

from skillhub.documents.diff import PartsDiff, diff_parts, diff_text
from skillhub.documents.merge import section_texts
from skillhub.documents.skillmd import parse

TEXT = "---\nname: tea\ndescription: Makes tea.\n---\n\n# Tea\n\n## Steps\nBoil.\n\n## Notes\nHot.\n"


def test_a_diff_names_added_removed_changed_and_moved():
    assert diff_parts({"a": 1, "b": 2, "c": 3}, {"c": 3, "b": 9, "d": 4}) == PartsDiff(["d"], ["a"], ["b"], True)


def test_equal_texts_have_no_diff_and_others_show_the_line():
    assert diff_text("a\n", "a\n") == ""
    assert "-a\n+b\n" in diff_text("a\n", "b\n")


def test_the_texts_of_sections_joined_are_the_body():
    document = parse(TEXT)
    texts = section_texts(document)
    assert "".join(texts.values()) == document.body
    assert texts["steps"] == "## Steps\nBoil.\n\n"
