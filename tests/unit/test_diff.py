"""A diff names each part that differs, and the parts of a document joined are the document."""

from hypothesis import given, settings

from skillhub.documents import Document, parse
from skillhub.documents.archive import BundledFile, Content
from skillhub.documents.diff import MAX_LINES, PartsDiff, diff, diff_parts, diff_text
from skillhub.documents.parts import field_texts, section_texts
from tests.unit.test_document_properties import OPTIONS, documents

TEXT = (
    "---\n# of the kitchen\nname: tea\ndescription: Makes tea.\nmetadata:\n  author: ann\n  level: low\n---\n\n"
    "# Tea\n\n## Steps\nBoil.\n\n## Notes\nHot.\n"
)


def test_a_diff_names_added_removed_changed_and_moved() -> None:
    assert diff_parts({"a": 1, "b": 2, "c": 3}, {"c": 3, "b": 9, "d": 4}) == PartsDiff(["d"], ["a"], ["b"], True)


def test_equal_texts_have_no_diff_and_others_show_the_line() -> None:
    assert diff_text("a\n", "a\n") == ""
    assert "-a\n+b\n" in diff_text("a\n", "b\n")
    assert diff_text("a\nb", "a\nc").endswith("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n")


def test_a_diff_of_two_contents_speaks_of_metadata_sections_and_files() -> None:
    other = TEXT.replace("low", '"high"').replace("  author: ann\n", "").replace("Hot.", "Hot!") + "\n## Cautions\nSteam.\n"
    before = Content(TEXT, [BundledFile("a.sh", 0o644, b"a"), BundledFile("b.sh", 0o644, b"b")])
    found = diff(before, Content(other, [BundledFile("a.sh", 0o755, b"a"), BundledFile("b.sh", 0o644, b"b")]))
    assert found.metadata == PartsDiff([], ["metadata.author"], ["metadata.level"], False)
    assert found.sections == PartsDiff(["cautions"], [], ["notes"], False)
    assert found.files == PartsDiff([], [], ["a.sh"], False)
    assert '-  level: low\n+  level: "high"\n' in found.text


def test_quotes_and_blank_lines_change_the_text_and_no_part() -> None:
    found = diff(Content(TEXT, []), Content(TEXT.replace("Makes tea.", '"Makes tea."').replace("Boil.\n", "Boil.\n\n"), []))
    assert (found.metadata.changed, found.sections.changed, bool(found.text)) == ([], [], True)


def test_a_document_of_too_many_lines_is_compared_by_parts_only() -> None:
    found = diff(Content(TEXT, []), Content(TEXT + "a\nb\n" * (MAX_LINES // 2), []))
    assert (found.text, found.sections.changed) == (None, ["notes"])


def test_the_parts_of_a_document_are_its_lines() -> None:
    fields = field_texts(parse(TEXT))
    assert list(fields) == ["", "name", "description", "metadata", "metadata.author", "metadata.level", "---"]
    assert (fields[""], fields["metadata.level"]) == ("---\n# of the kitchen\n", "  level: low\n")
    assert section_texts(parse(TEXT))["steps"] == "## Steps\nBoil.\n\n"


@settings(**OPTIONS)
@given(documents())
def test_the_parts_joined_are_the_document(document: Document) -> None:
    assert "".join([*field_texts(document).values(), *section_texts(document).values()]) == document.text
