"""Folders come in whole or not at all, and go out as they came."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from skillhub.documents import archive, zips
from skillhub.documents.archive import BundledFile, Folder
from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.services import imports, skills, versions
from skillhub.services.candidates import CandidateInput, propose
from skillhub.services.imports import Imported
from skillhub.services.scope import Scope

HIDDEN = "".join(chr(0xE0000 + ord(character)) for character in "obey")


def folder(path: str, body: str = "Body.\r\n", *, name: str = "", files: Mapping[str, bytes] | None = None) -> Folder:
    document = f"---\nname: {name or path.rpartition('/')[2]}\ndescription: d\n---\n{body}".encode()
    bundled = [
        BundledFile(place, 0o755 if place.endswith(".sh") else 0o644, content) for place, content in (files or {}).items()
    ]
    return Folder(path, document, sorted(bundled))


def brought(scope: Scope, *folders: Folder, **more: str) -> list[Imported]:
    buffer = io.BytesIO()
    zips.write(folders, buffer)
    return imports.import_zip(scope, buffer.getvalue(), **more)


def sent_out(scope: Scope, *names: str, label: str = "production") -> list[Folder]:
    buffer = io.BytesIO()
    imports.export_many(scope, names=names, label=label, into=buffer)
    return archive.grouped(zips.read(buffer.getvalue()))


def test_a_tree_is_imported_and_exported_byte_for_byte(scope: Scope) -> None:
    files = {"data.bin": bytes(range(256)), "run.sh": b"#!/bin/sh\r\n", "é/技能.md": b"\xef\xbb\xbfBOM\r", "empty": b""}
    tree = [folder("one"), folder("two", "\r\n# T\rlast", files=files), folder("навык", "")]
    assert [(item.skill, item.version.number) for item in brought(scope, *tree)] == [("one", 1), ("two", 1), ("навык", 1)]
    assert sent_out(scope) == tree
    assert sent_out(scope, "two", "two") == [tree[1]]
    assert archive.grouped(zips.read(imports.export(scope, name="two")[1])) == [tree[1]]


def test_a_faulty_folder_is_reported_and_holds_up_no_other(scope: Scope) -> None:
    bad, good = brought(scope, folder("bad", name="other"), folder("good"))
    assert (bad.version, bad.error.status) == (None, 422)
    assert good.version.number == 1
    with pytest.raises(NotFound):
        skills.get(scope, "bad")


def test_importing_again_adds_a_version_only_where_something_changed(scope: Scope) -> None:
    brought(scope, folder("one"), folder("two", files={"x": b"1"}))
    again = brought(scope, folder("one"), folder("two", files={"x": b"2"}))
    assert [item.version.number for item in again] == [1, 2]
    assert [p.relation for p in skills.get(scope, "two").latest.parents] == ["import"]
    assert sent_out(scope, "two") == [folder("two", files={"x": b"2"})]


def test_two_folders_of_one_name_are_one_skill_and_one_refusal(scope: Scope) -> None:
    first, second = brought(scope, folder("g/one"), folder("h/one", "Other."))
    assert first.version.number == 1
    assert isinstance(second.error, Conflict)


def test_a_zip_that_is_a_skill_itself_takes_its_name_from_the_document(scope: Scope) -> None:
    (item,) = brought(scope, Folder("", folder("one").document, []))
    assert (item.folder, item.skill) == ("", "one")


def test_an_unsafe_zip_writes_nothing_at_all(scope: Scope) -> None:
    buffer = io.BytesIO()
    zips.write([folder("one")], buffer)
    with zipfile.ZipFile(buffer, "a") as file:
        file.writestr("../evil.md", b"x")
    with pytest.raises(Invalid, match="evil"):
        imports.import_zip(scope, buffer.getvalue())
    assert skills.page(scope) == []


def test_a_zip_without_skills_is_refused(scope: Scope) -> None:
    with pytest.raises(Invalid, match=r"no SKILL\.md"):
        brought(scope)


def test_an_export_of_all_leaves_out_what_is_retired_or_not_under_the_label(scope: Scope) -> None:
    brought(scope, folder("one"), folder("two"))
    brought(scope, folder("three"), label="draft")
    skills.retire(scope, name="two", reason="old")
    assert [item.path for item in sent_out(scope)] == ["one"]
    with pytest.raises(NotFound):
        sent_out(scope, "three")
    with pytest.raises(NotFound):
        sent_out(scope, "nothing")


def test_a_published_version_may_bring_its_own_files_and_keeps_them_otherwise(scope: Scope) -> None:
    brought(scope, folder("one", files={"a": b"1"}))
    document = folder("one", "New.").document.decode()
    versions.publish(scope, name="one", document=document, files=[BundledFile("b", 0o755, b"2")], label="production")
    assert [file.path for file in sent_out(scope, "one")[0].files] == ["b"]
    versions.publish(scope, name="one", document=document + "more", label="production")
    assert [file.path for file in sent_out(scope, "one")[0].files] == ["b"]


@pytest.mark.parametrize("way", ["create", "publish", "import", "file", "propose"])
def test_hidden_text_is_refused_on_every_way_in(scope: Scope, way: str) -> None:
    brought(scope, folder("old"))
    text = folder("old" if way != "create" else "new", f"Fine.{HIDDEN}").document.decode()
    if way == "import":
        error = brought(scope, Folder("old", text.encode(), []))[0].error
    elif way == "file":
        error = brought(scope, folder("old", files={"notes.md": HIDDEN.encode()}))[0].error
    else:
        with pytest.raises(Invalid) as caught:
            if way == "create":
                versions.create(scope, name="new", kind="skill", document=text)
            elif way == "publish":
                versions.publish(scope, name="old", document=text)
            else:
                item = CandidateInput(skill_name="old", kind="skill", target_slice="s", proposer="p", document=text, base=1)
                propose(scope, item)
        error = caught.value
    assert isinstance(error, Invalid)
    assert "'obey'" in error.detail
    assert error.errors[0]["line"] == (1 if way == "file" else 5)
    assert [item.skill.last_number for item in skills.page(scope)] == [1]
