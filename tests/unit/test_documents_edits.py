"""An edit changes what it names and not a byte more."""

import json

import pytest

from skillhub.documents import parse
from skillhub.documents.edits import apply
from skillhub.errors import Invalid

HEAD = "---\nname: a\ndescription: d\nlicense: MIT # kept\nmetadata:\n  author: me\n# note\n---\n"
BODY = "\n# Title\n\nIntro.\n\n## Steps\n\n1. Heat it.\n2. Wait.\n\n### Boil\n\nBubbles.\n\n## Cautions\n\n- Hot.\n"


def edited(*operations: dict, head: str = HEAD, body: str = BODY) -> str:
    return apply(head + body, operations)


def test_add_continues_a_list_at_the_end_of_the_section() -> None:
    assert edited({"op": "add", "anchor": "cautions", "text": "- Sharp."}) == HEAD + BODY + "- Sharp.\n"


def test_add_starts_a_new_block_after_prose() -> None:
    changed = edited({"op": "add", "anchor": "steps/boil", "text": "Steam."})
    assert changed == HEAD + BODY.replace("Bubbles.\n", "Bubbles.\n\nSteam.\n")


def test_add_can_follow_a_sentence() -> None:
    changed = edited({"op": "add", "anchor": "steps", "after": "Heat it.", "text": "2. Stir."})
    assert changed == HEAD + BODY.replace("1. Heat it.\n", "1. Heat it.\n2. Stir.\n")


def test_add_to_the_document_adds_a_section_at_its_end() -> None:
    changed = edited({"op": "add", "anchor": "", "text": "## More\n\nText."})
    assert changed == HEAD + BODY + "\n## More\n\nText.\n"


def test_replace_of_a_section_keeps_heading_blank_lines_and_subsections() -> None:
    changed = edited({"op": "replace", "anchor": "steps", "text": "1. New."})
    assert changed == HEAD + BODY.replace("1. Heat it.\n2. Wait.\n", "1. New.\n")


def test_replace_of_a_sentence_keeps_its_marker() -> None:
    changed = edited({"op": "replace", "anchor": "steps", "sentence": "Heat it.", "text": r"Heat \1 slowly."})
    assert changed == HEAD + BODY.replace("1. Heat it.", r"1. Heat \1 slowly.")


def test_remove_of_a_sentence_removes_its_bare_line() -> None:
    assert edited({"op": "remove", "anchor": "steps", "sentence": "Wait."}) == HEAD + BODY.replace("2. Wait.\n", "")


def test_remove_of_a_section_removes_its_subsections() -> None:
    start, end = BODY.index("## Steps"), BODY.index("## Cautions")
    assert edited({"op": "remove", "anchor": "steps"}) == HEAD + BODY[:start] + BODY[end:]


def test_move_takes_the_whole_section_and_there_and_back_is_no_change() -> None:
    first = edited({"op": "move", "anchor": "cautions", "after": ""})
    order = [first.index(title) for title in ("# Title", "Intro.", "## Cautions", "## Steps", "### Boil")]
    assert order == sorted(order)
    back = apply(first, [{"op": "move", "anchor": "cautions", "after": "steps"}])
    assert back.rstrip("\n") == (HEAD + BODY).rstrip("\n")


def test_the_title_is_a_section_of_its_own() -> None:
    assert edited({"op": "add", "anchor": "title", "text": "More."}) == HEAD + BODY.replace("Intro.\n", "Intro.\n\nMore.\n")
    assert edited({"op": "remove", "anchor": "title"}) == HEAD + "\n" + BODY[BODY.index("## Steps") :]


def test_metadata_is_set_and_removed_key_by_key() -> None:
    changed = edited({"op": "set_metadata", "key": "metadata.version", "value": "1.0: #x"})
    assert parse(changed).metadata == {"author": "me", "version": "1.0: #x"}
    assert "license: MIT # kept\n" in changed and "# note\n" in changed and changed.endswith(BODY)
    gone = apply(changed, [{"op": "set_metadata", "key": f"metadata.{key}", "value": None} for key in ("version", "author")])
    assert "metadata" not in parse(gone).fields


def test_a_field_is_replaced_where_it_stands_and_added_at_the_end() -> None:
    changed = edited(
        {"op": "set_metadata", "key": "description", "value": "New: d"},
        {"op": "set_metadata", "key": "compatibility", "value": "any"},
    )
    assert list(parse(changed).fields) == ["name", "description", "license", "metadata", "compatibility"]
    assert parse(changed).description == "New: d"


def test_the_line_breaks_of_the_document_are_used() -> None:
    changed = apply((HEAD + BODY).replace("\n", "\r\n"), [{"op": "add", "anchor": "cautions", "text": "- a\n- b"}])
    assert changed == (HEAD + BODY + "- a\n- b\n").replace("\n", "\r\n")


def test_a_file_without_a_last_line_break_is_closed_first() -> None:
    assert edited({"op": "add", "anchor": "cautions", "text": "- b"}, body=BODY.rstrip("\n")) == HEAD + BODY + "- b\n"


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        ({"op": "burn"}, "op"),
        ({"op": "add", "anchor": "nowhere", "text": "x"}, "anchor"),
        ({"op": "add", "anchor": "steps"}, "text"),
        ({"op": "add", "anchor": "steps", "text": "x", "where": 1}, "where"),
        ({"op": "remove", "anchor": "steps", "sentence": "Nothing."}, "sentence"),
        ({"op": "move", "anchor": "steps", "after": "steps/boil"}, "after"),
        ({"op": "move", "anchor": "", "after": "steps"}, "anchor"),
        ({"op": "set_metadata", "key": "name", "value": "b"}, "key"),
        ({"op": "set_metadata", "key": "description", "value": None}, "key"),
        ({"op": "set_metadata", "key": "license", "value": 1}, "value"),
    ],
)
def test_a_faulty_operation_is_named_by_its_path(operation: dict, path: str) -> None:
    with pytest.raises(Invalid) as caught:
        edited({"op": "add", "anchor": "", "text": "fine"}, operation)
    assert caught.value.errors[0]["path"] == f"/operations/1/{path}"


def test_a_result_that_is_no_valid_skill_is_refused() -> None:
    with pytest.raises(Invalid, match="the result is not valid") as caught:
        edited({"op": "set_metadata", "key": "description", "value": "x" * 1025})
    assert caught.value.errors[0]["path"] == "/operations/0"


@pytest.mark.parametrize("unstorable", ["\0", "\ud800"])
def test_metadata_that_cannot_be_stored_is_refused_also_where_yaml_writes_it_as_an_escape(unstorable: str) -> None:
    for operation in ({"key": f"metadata.{unstorable}", "value": "x"}, {"key": "license", "value": unstorable}):
        with pytest.raises(Invalid) as caught:
            edited({"op": "set_metadata"} | operation)
        assert caught.value.errors[0]["path"].startswith("/")
    escaped = json.dumps(unstorable)
    with pytest.raises(Invalid, match="line 3"):
        parse(f"---\nname: a\ndescription: {escaped}\n---\n")


def test_edits_of_different_sections_commute() -> None:
    first = {"op": "replace", "anchor": "steps", "sentence": "Wait.", "text": "Wait long."}
    second = {"op": "add", "anchor": "cautions", "text": "- Sharp."}
    assert edited(first, second) == edited(second, first)


@pytest.mark.parametrize("text", ["```\nopen", "## Cautions\n\nMine.", "<!-- open"])
def test_a_text_that_would_swallow_or_rename_another_section_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="would change the section 'cautions'") as caught:
        edited({"op": "replace", "anchor": "steps", "text": text}, body=BODY.replace("### Boil\n\nBubbles.\n\n", ""))
    assert caught.value.errors[0]["path"] == "/operations/0/text"


def test_a_missing_value_clears_nothing() -> None:
    with pytest.raises(Invalid, match="is missing; null removes"):
        edited({"op": "set_metadata", "key": "license"})


def test_an_edit_of_the_text_keeps_the_metadata_that_was_added_before() -> None:
    tagged = edited({"op": "set_metadata", "key": "metadata.category", "value": "x"})
    changed = apply(tagged, [{"op": "replace", "anchor": "steps", "text": "1. New."}])
    assert parse(changed).metadata == {"author": "me", "category": "x"}
