"""Nothing unsafe gets in from a folder, and what got in comes out unchanged."""

import os
from pathlib import Path

import pytest

from skillhub.documents import archive
from skillhub.documents.archive import BundledFile
from skillhub.errors import Invalid, TooLarge

DOCUMENT = b"---\nname: a\ndescription: d\n---\r\nbody"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "a"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(DOCUMENT)
    (folder / "scripts" / "run.sh").write_bytes(b"\x00\xff")
    (folder / "scripts" / "run.sh").chmod(0o755)
    return folder


def test_a_folder_is_read_as_it_is(folder: Path) -> None:
    document, files = archive.read_folder(folder)
    assert (document, files) == (DOCUMENT, [BundledFile("scripts/run.sh", 0o755, b"\x00\xff")])

def test_a_symbolic_link_refuses_the_folder(folder: Path) -> None:
    (folder / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="symbolic link"):
        archive.read_folder(folder)


def test_a_linked_subfolder_refuses_the_folder(folder: Path) -> None:
    (folder / "etc").symlink_to("/etc", target_is_directory=True)
    with pytest.raises(Invalid, match="symbolic link"):
        archive.read_folder(folder)


def test_a_pipe_refuses_the_folder_and_does_not_hang(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(Invalid, match="plain file"):
        archive.read_folder(folder)


def test_limits_of_size_and_number_hold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_FILE_BYTES", 1), ("MAX_FILES", 0), ("MAX_TOTAL_BYTES", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(archive, name, value)
            with pytest.raises(TooLarge):
                archive.read_folder(folder)


def test_a_lowercase_skill_file_is_read_and_the_uppercase_one_wins(folder: Path) -> None:
    (folder / "SKILL.md").rename(folder / "skill.md")
    assert archive.read_folder(folder)[0] == DOCUMENT
    (folder / "SKILL.md").write_bytes(b"other")
    with pytest.raises(Invalid, match="collides"):
        archive.read_folder(folder)


@pytest.mark.parametrize(
    "paths", [("a.md", "A.md"), ("é.md", "e\u0301.md"), ("a", "a/b"), ("SKILL.md/x",), ("x", "x"), ("A/x", "a/y")]
)
def test_paths_that_are_one_elsewhere_are_refused(paths: tuple[str, ...]) -> None:
    with pytest.raises(Invalid):
        archive.checked([BundledFile(path, 0o644, b"") for path in paths])


def test_only_the_executable_bit_of_a_mode_is_kept() -> None:
    kept = archive.checked([BundledFile("a", 0o777, b""), BundledFile("b", 0o600, b"")])
    assert [file.mode for file in kept] == [0o755, 0o644]


def test_skills_are_found_in_a_tree_and_not_inside_each_other(folder: Path, tmp_path: Path) -> None:
    for place in ("group/b", "group/b/c", ".git/d"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "SKILL.md").write_bytes(DOCUMENT)
    assert archive.find_skills(tmp_path) == [folder, tmp_path / "group" / "b"]


def test_skills_are_found_among_the_files_of_a_zip_as_on_a_disk() -> None:
    paths = ["a/SKILL.md", "a/x/SKILL.md", "g/b/skill.md", "g/b/run.sh", ".git/c/SKILL.md", "README.md", "g/c/notes.md"]
    folders = archive.grouped(BundledFile(path, 0o644, path.encode()) for path in paths)
    assert [(f.path, f.name, f.document, [file.path for file in f.files]) for f in folders] == [
        ("a", "a", b"a/SKILL.md", ["x/SKILL.md"]),
        ("g/b", "b", b"g/b/skill.md", ["run.sh"]),
    ]
    (root,) = archive.grouped([BundledFile("SKILL.md", 0o644, b"x"), BundledFile("a/SKILL.md", 0o644, b"")])
    assert (root.path, root.name, [file.path for file in root.files]) == ("", None, ["a/SKILL.md"])


def test_the_folder_of_a_version_control_is_no_content(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_bytes(b"ref")
    assert [file.path for file in archive.read_folder(folder)[1]] == ["scripts/run.sh"]
