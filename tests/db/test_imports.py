"""Folders come in whole or not at all, and go out as they came."""

import io
import zipfile
from pathlib import Path

import pytest

from skillhub.errors import Invalid, NotFound
from skillhub.services import imports, skills
from skillhub.services.scope import Scope


def write(root: Path, name: str, body: str = "Body.\r\n", *, written_name: str = "") -> None:
    (root / name).mkdir(parents=True, exist_ok=True)
    (root / name / "SKILL.md").write_bytes(f"---\nname: {written_name or name}\ndescription: d\n---\n{body}".encode())


def test_a_tree_is_imported_and_exported_byte_for_byte(scope: Scope, tmp_path: Path) -> None:
    write(tmp_path, "one")
    write(tmp_path, "two")
    (tmp_path / "two" / "data.bin").write_bytes(bytes(range(256)))
    report = imports.import_tree(scope, tmp_path)
    assert [(item.skill, item.version.number) for item in report] == [("one", 1), ("two", 1)]
    archive = zipfile.ZipFile(io.BytesIO(imports.export(scope, name="two")[1]))
    for name in archive.namelist():
        assert archive.read(name) == (tmp_path / name).read_bytes()


def test_a_faulty_folder_is_reported_and_holds_up_no_other(scope: Scope, tmp_path: Path) -> None:
    write(tmp_path, "bad", written_name="other")
    write(tmp_path, "good")
    bad, good = imports.import_tree(scope, tmp_path)
    assert (bad.version, bad.error.status) == (None, 422)
    assert good.version.number == 1
    with pytest.raises(NotFound):
        skills.get(scope, "bad")


def test_importing_again_adds_a_version_only_where_something_changed(scope: Scope, tmp_path: Path) -> None:
    write(tmp_path, "one")
    write(tmp_path, "two")
    imports.import_tree(scope, tmp_path)
    write(tmp_path, "two", "New.\n")
    assert [item.version.number for item in imports.import_tree(scope, tmp_path)] == [1, 2]
    assert [p.relation for p in skills.get(scope, "two").latest.parents] == ["import"]


def test_a_folder_without_skills_is_refused(scope: Scope, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"no SKILL\.md"):
        imports.import_tree(scope, tmp_path)
