"""Whatever the document: an edit in one section changes no byte and no anchor of another, and sections tile the body."""

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skillhub.documents import Document, parse
from skillhub.documents.edits import apply
from skillhub.documents.sections import Section, lines, sections
from skillhub.errors import Invalid

HEADINGS = st.sampled_from(["Steps", "Cautions", "Boil", "Steps", "技能", "!!!", "steps", "Steps 2", "A-B", "A_b"])
TEXTS = st.lists(
    st.sampled_from(
        ["Heat it.", "- Hot.", "1. Wait.\n2. Stop.", "```\n# no heading\n```", "> quoted", "a  \nb", "    code", "| a |", "é😀"]
    ),
    max_size=3,
).map("\n\n".join)
KEYS = st.text(st.sampled_from("abé :#'\"{-"), min_size=1, max_size=6)
METADATA = st.dictionaries(KEYS.filter(lambda key: "--" not in key), st.text(st.sampled_from("xé: #'\"\n😀")), max_size=4)
OPTIONS = {"max_examples": 250, "deadline": None, "derandomize": True, "database": None}


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document with a title, nested and repeated headings, and one kind of line break."""
    parts = draw(st.lists(st.tuples(st.integers(1, 4), HEADINGS, TEXTS), max_size=6))
    gap = draw(st.sampled_from(["\n\n", "\n"]))
    body = draw(TEXTS) + "\n\n" + "".join(f"{heading(level, title)}{gap}{text}\n\n" for level, title, text in parts)
    metadata = draw(METADATA)
    entries = "".join(
        f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(value)} # note\n" for key, value in metadata.items()
    )
    head = "---\nname: a\ndescription: d\n"
    text = head + (f"metadata:\n{entries}" if metadata else "") + "---\n" + draw(st.sampled_from([body, body.rstrip("\n")]))
    return parse(text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"]))))


def heading(level: int, title: str) -> str:
    """Levels 1 and 2 of one word are underlined."""
    return f"{title}\n{'=-'[level - 1] * 4}" if level < 3 and title.isalpha() else f"{'#' * level} {title}"


def own(document: Document, section: Section) -> str:
    """Heading and content of a section, subsections excepted, blank lines at its end apart."""
    return "".join(lines(document.text)[section.first_line - 1 : section.content_end - 1]).rstrip()


def parts(document: Document) -> list[tuple[str, str]]:
    return [(section.anchor, own(document, section)) for section in sections(document)]


@settings(**OPTIONS)
@given(documents())
def test_sections_tile_the_body_and_have_anchors_of_their_own(document: Document) -> None:
    found = sections(document)
    assert len({section.anchor for section in found}) == len(found)
    assert [section.content_end for section in found[:-1]] == [section.first_line for section in found[1:]]
    text = lines(document.text)
    assert "".join("".join(text[s.first_line - 1 : s.content_end - 1]) for s in found) == document.body


@settings(**OPTIONS)
@given(documents(), st.data())
def test_adding_to_a_section_changes_no_other(document: Document, data: st.DataObject) -> None:
    before = parts(document)
    section = data.draw(st.sampled_from(sections(document)[1:] or sections(document)))
    assume(section.anchor)
    after = parts(parse(apply(document.text, [{"op": "add", "anchor": section.anchor, "text": "Added."}])))
    assert [anchor for anchor, _ in after] == [anchor for anchor, _ in before]
    changed = [anchor for (anchor, old), (_, new) in zip(before, after, strict=True) if old != new]
    inside = {s.anchor for s in sections(document) if section.first_line <= s.first_line < section.end}
    assert len(changed) == 1 and set(changed) <= inside


@settings(**OPTIONS)
@given(documents(), st.data())
def test_replacing_a_section_changes_no_other(document: Document, data: st.DataObject) -> None:
    section = data.draw(st.sampled_from(sections(document)))
    before = [part for part in parts(document) if part[0] != section.anchor]
    changed = parse(apply(document.text, [{"op": "replace", "anchor": section.anchor, "text": "New text."}]))
    assert [part for part in parts(changed) if part[0] != section.anchor] == before
    assert "New text." in dict(parts(changed))[section.anchor]
    assert changed.text[: changed.text.index("---", 3)] == document.text[: document.text.index("---", 3)]


@settings(**OPTIONS)
@given(documents(), st.data())
def test_removing_a_section_keeps_the_bytes_of_all_others(document: Document, data: st.DataObject) -> None:
    section = data.draw(st.sampled_from(sections(document)))
    assume(section.anchor)
    gone = {s.anchor for s in sections(document) if section.first_line <= s.first_line < section.end}
    kept = [text for anchor, text in parts(document) if anchor not in gone]
    assert [text for _, text in parts(parse(apply(document.text, [{"op": "remove", "anchor": section.anchor}])))] == kept


@settings(**OPTIONS)
@given(documents(), st.data())
def test_moving_a_section_keeps_every_line(document: Document, data: st.DataObject) -> None:
    found = [section.anchor for section in sections(document)]
    operation = {"op": "move", "anchor": data.draw(st.sampled_from(found)), "after": data.draw(st.sampled_from(found))}
    try:
        moved = apply(document.text, [operation])
    except Invalid as error:
        assert error.errors[0]["path"].startswith("/operations/0")
        return
    assert sorted(line.strip() for line in lines(moved) if line.strip()) == sorted(
        line.strip() for line in lines(document.text) if line.strip()
    )


@settings(**OPTIONS)
@given(
    documents(), KEYS, st.none() | st.text(max_size=8) | st.sampled_from(["x --- y", "\x07", "\x85\u2028", "\x7f", "a\r\nb"])
)
def test_metadata_is_merged_as_a_patch(document: Document, key: str, value: str | None) -> None:
    """A value sets, null clears, and what is not named keeps its very line."""
    try:
        changed = parse(apply(document.text, [{"op": "set_metadata", "key": f"metadata.{key}", "value": value}]))
    except Invalid:
        assert value is not None and "\0" in value
        return
    expected = (
        document.metadata | {key: value} if value is not None else {k: v for k, v in document.metadata.items() if k != key}
    )
    assert changed.metadata == expected
    assert changed.body == document.body
    kept = [
        line
        for line in lines(document.text)
        if line.startswith("  ") and not line.startswith(f"  {json.dumps(key, ensure_ascii=False)}:")
    ]
    assert [line for line in lines(changed.text) if line in kept][: len(kept)] == kept
