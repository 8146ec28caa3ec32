"""SKILL.md is read as the reference validator reads it, and kept to the last byte."""

import base64
import json
from pathlib import Path

import pytest

from skillhub.documents import parse
from skillhub.documents.sections import lines, sections, sentences
from skillhub.documents.skillmd import MAX_DOCUMENT_BYTES
from skillhub.errors import Invalid, SkillhubError, TooLarge

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "skill_format" / "cases.jsonl"
REFUSED_THOUGH_VALID = {"inline close", "desc #hash"}
"""Texts the reference validator silently cuts; docs/skill-format.md lists them."""


def cases() -> list[dict]:
    return [json.loads(line) for line in CASES.read_text().splitlines()] if CASES.exists() else []


def content(case: dict) -> bytes:
    if case["content_base64"] is None:
        return b"---\nname: a\ndescription: d\n---\n" + b"x" * 1_000_000
    return base64.b64decode(case["content_base64"])


def document(head: str = "", body: str = "") -> str:
    return f"---\nname: a\ndescription: d\n{head}---\n{body}"


@pytest.mark.skipif(not CASES.exists(), reason=f"the format cases are not at {CASES}")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["label"])
def test_the_verdict_is_that_of_the_reference_validator(case: dict) -> None:
    expected = case["skills_ref"] == "valid" and case["label"] not in REFUSED_THOUGH_VALID
    try:
        parsed = parse(content(case), name=case["directory"])
    except SkillhubError as error:
        assert not expected, error.detail
        assert error.status in (413, 422) and error.detail
    else:
        assert expected
        assert parsed.text.encode() == content(case)


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (document("license: MIT\nextra: 1\n"), 5, "unknown field 'extra'"),
        (document("description: e\n"), 4, "twice"),
        (document("metadata:\n  a: [b]\n"), 5, "block style"),
        (document("license: x --- y\n"), 4, "ends the frontmatter for other readers"),
        ("---\nname: a\ndescription: use a # b\n---\n", 3, "double quotes"),
        ("---\nname: a\ndescription: Use: this\n---\n", 3, "double quotes"),
        ("---\r\nname: a\r\ndescription: d\r\nname: b\r\n---\r\n", 4, "twice"),
        (document(body="a\nb\0"), 6, "NUL"),
        (document("metadata:\n  ? [a]\n  : b\n"), 5, "block style"),
        (document("license: !!python/object/apply:os.system [ls]\n"), 4, "tags"),
    ],
)
def test_a_fault_is_named_with_its_line(source: str, line: int, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse(source, name="a")
    assert caught.value.errors[0]["line"] == line


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        parse("---\nname: A_b\nextra: x\ncompatibility: " + "c" * 501 + "\n---\n", name="b")
    paths = [fault["path"] for fault in caught.value.errors]
    assert paths.count("/document/frontmatter/name") == 3
    assert {"/document/frontmatter/extra", "/document/frontmatter/description", "/document/frontmatter/compatibility"} <= set(
        paths
    )


@pytest.mark.parametrize("source", [b"---\nname: a\ndescription: \xe9\n---\n", "---\nname: a\ndescription: \ud800\n---\n"])
def test_bytes_that_are_not_utf8_are_refused_with_a_message(source: bytes | str) -> None:
    with pytest.raises(Invalid, match="UTF-8"):
        parse(source)


def test_a_text_above_the_limit_is_too_large() -> None:
    with pytest.raises(TooLarge):
        parse(document(body="x" * MAX_DOCUMENT_BYTES))
    with pytest.raises(TooLarge):
        parse(document("license: " + "x" * 70_000 + "\n"))


def test_deep_nesting_is_refused() -> None:
    deep = "".join(f"{'  ' * depth}k:\n" for depth in range(1, 60))
    with pytest.raises(Invalid, match="nested deeper"):
        parse(document("metadata:\n" + deep + "  " * 60 + "x: y\n"))


def test_scalars_stay_text() -> None:
    parsed = parse("---\nname: 'null'\ndescription: 2020-01-01\nlicense: 1.0\nmetadata:\n  a: yes\n  n:\n    b: 1\n---\n")
    assert (parsed.name, parsed.description, parsed.fields["license"]) == ("null", "2020-01-01", "1.0")
    assert parsed.metadata == {"a": "yes", "n": "{'b': '1'}"}


def test_sections_are_found_by_heading_path_and_not_in_code() -> None:
    body = "pre\n\n# Title\nintro\n## Steps\na\n```\n# no\n```\n### Boil\nb\n## Steps\nc\n\nCautions\n--------\nd\n## !!!\n"
    found = sections(parse(document(body=body)))
    assert [s.anchor for s in found] == ["", "title", "steps", "steps/boil", "steps-2", "cautions", "section"]
    assert (found[1].content_end, found[1].end) == (9, 9)
    assert (found[2].first_line, found[2].content_line, found[2].content_end, found[2].end) == (9, 10, 14, 16)


def test_renaming_the_title_moves_no_other_anchor() -> None:
    anchors = [[s.anchor for s in sections(parse(document(body=f"# {t}\n## Steps\n### One\n")))][2:] for t in ("Old", "New")]
    assert anchors[0] == anchors[1] == ["steps", "steps/one"]


def test_sentences_and_list_items_carry_their_line_and_section() -> None:
    body = "# T\n\nOne here. Two\nthere! Three?\n\n## Steps\n\n"
    body += "1. Heat it. Then wait\n   long.\n   - inner\n2. Stop.\n\n> Quoted.\n"
    found = [(s.line, s.text, s.anchor) for s in sentences(parse(document(body=body)))]
    assert found == [
        (7, "One here.", "t"), (7, "Two\nthere!", "t"), (8, "Three?", "t"), (12, "Heat it. Then wait\nlong.", "steps"),
        (14, "inner", "steps"), (15, "Stop.", "steps"), (17, "Quoted.", "steps"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb\rc\n\nd", "\n\n", "\r"])
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(lines(text)) == text
