"""An unsafe zip is refused whole, with its entry named; a safe one comes out byte for byte."""

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillhub.documents import archive, zips
from skillhub.documents.archive import BundledFile, Folder
from skillhub.errors import Invalid, SkillhubError, TooLarge

DOCUMENT = b"---\nname: a\ndescription: d\n---\r\nbody"


def zipped(*entries: tuple[str, bytes], mode: int = stat.S_IFREG | 0o644, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip with these entries after `a/SKILL.md`, their names written raw; the last entry's mode is `mode`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        file.writestr("a/SKILL.md", DOCUMENT)
        for name, content in entries:
            entry = zipfile.ZipInfo("x")
            entry.filename = entry.orig_filename = name
            entry.external_attr, entry.compress_type = mode << 16, method
            file.writestr(entry, content)
    return buffer.getvalue()


def packed(*folders: Folder) -> bytes:
    buffer = io.BytesIO()
    zips.write(folders, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.md",
        "/etc/x",
        "a/../../x",
        "a\\..\\x",
        "C:/x",
        "C:x",
        "a/b\x00.md",
        "a//b",
        "./a",
        "a/\u202ex",
        "a/x ",
        "a/con.",
        "",
        "/".join("d" * 20),
        "a/" + "x" * 500,
    ],
)
def test_an_entry_that_leaves_its_folder_or_means_something_else_elsewhere_refuses_the_zip(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        zips.read(zipped((name, b"x")))
    assert repr(name) in caught.value.detail


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR])
def test_a_link_or_a_device_refuses_the_zip(kind: int) -> None:
    with pytest.raises(Invalid, match=r"'a/passwd' is a link or a device"):
        zips.read(zipped(("a/passwd", b"/etc/passwd"), mode=kind | 0o777))


@pytest.mark.parametrize(
    "names",
    [
        ("a/SKILL.md",),
        ("a/skill.md",),
        ("a/x", "a/X"),
        ("a/é", "a/e\u0301"),
        ("a/x", "a/x/y"),
        ("a/x", "a/x"),
        ("A/x",),
        ("a/ﬁ", "a/fi"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_are_one_elsewhere_refuse_the_zip(names: tuple[str, ...]) -> None:
    with pytest.raises(Invalid, match="collides") as caught:
        zips.read(zipped(*((name, b"") for name in names)))
    assert repr(names[-1]) in caught.value.detail


def test_a_bomb_is_stopped_at_the_limit_of_what_it_may_open_to() -> None:
    part = b"\0" * archive.MAX_FILE_BYTES
    bomb = zipped(*((f"a/{i}", part) for i in range(25)))
    assert len(bomb) < 60_000
    with pytest.raises(TooLarge, match="opens to more than"):
        zips.read(bomb)
    with pytest.raises(TooLarge, match=r"'a/big' opens to more than"):
        zips.read(zipped(("a/big", part + b"\0")))


def test_a_header_that_lies_about_the_size_opens_nothing_beyond_the_limit() -> None:
    content = bytearray(zipped(("a/big", b"\0" * 50_000_000)))
    at = content.rindex(b"PK\x01\x02")
    struct.pack_into("<L", content, at + 24, 10)
    with pytest.raises(Invalid, match=r"'a/big' is broken"):
        zips.read(bytes(content))


def test_the_number_of_entries_and_the_size_of_their_list_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(TooLarge, match="3 entries"):
        patch.setattr(zips, "MAX_ENTRIES", 2)
        zips.read(zipped(("a/b", b""), ("a/c", b"")))
    with monkeypatch.context() as patch, pytest.raises(TooLarge, match="list of entries"):
        patch.setattr(zips, "MAX_DIRECTORY_BYTES", 100)
        zips.read(zipped(("a/b", b""), ("a/c", b"")))


def flagged(content: bytes) -> bytes:
    """The last entry said to be encrypted."""
    changed = bytearray(content)
    for sign, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        changed[changed.rindex(sign) + offset] |= 1
    return bytes(changed)


def damaged(content: bytes) -> bytes:
    """A byte of the last entry's content changed; it is stored as it is."""
    return content.replace(b"payload", b"Payload")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (flagged, "'a/x' is encrypted"),
        (damaged, "'a/x' is broken"),
        (lambda c: c[:-30], "no zip"),
        (lambda c: c[: len(c) // 2], "no zip"),
    ],
)
def test_encrypted_damaged_and_cut_zips_are_refused(change: Callable[[bytes], bytes], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        zips.read(change(zipped(("a/x", b"payload"), method=zipfile.ZIP_STORED)))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_method_that_is_not_read_here_refuses_the_zip(method: int) -> None:
    with pytest.raises(Invalid, match="packed by a method"):
        zips.read(zipped(("a/x", b"x"), method=method))


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_no_damage_to_a_zip_is_more_than_a_refusal(data: st.DataObject) -> None:
    content = bytearray(zipped(("a/x", b"payload" * 50), ("é/y", b"z")))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        zips.read(bytes(content[: data.draw(st.integers(1, len(content)))]))
    except SkillhubError as error:
        assert error.status in (413, 422)


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip" * 100, b"PK\x05\x06" + b"\0" * 18, b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_zip_is_refused_or_empty(content: bytes) -> None:
    try:
        assert zips.read(content) == []
    except SkillhubError as error:
        assert error.status in (413, 422)


def test_names_in_utf8_without_the_flag_are_read_and_others_refused() -> None:
    content = zipped(("é/x", b"1"))
    plain = bytearray(content)
    for sign, offset in ((b"PK\x01\x02", 9), (b"PK\x03\x04", 7)):
        plain[plain.rindex(sign) + offset] &= ~0x08
    assert [file.path for file in zips.read(bytes(plain))] == ["a/SKILL.md", "é/x"]
    with pytest.raises(Invalid, match="not UTF-8"):
        zips.read(bytes(plain).replace("é".encode(), b"\xff\xfe"))


NAMES = st.text(st.sampled_from("aéß技x.-_ 1"), min_size=1, max_size=8).filter(
    lambda name: name == name.strip() and name[-1] != "."
)
CONTENTS = st.one_of(st.binary(max_size=50), st.sampled_from([b"", b"\xef\xbb\xbfBOM", b"a\r\nb\rc\n", bytes(range(256))]))


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.dictionaries(NAMES, st.tuples(st.sampled_from([0o644, 0o755]), CONTENTS), max_size=5))
def test_what_is_written_is_read_again_with_every_byte_and_mode(named: dict[str, tuple[int, bytes]]) -> None:
    try:
        files = archive.checked(BundledFile(f"f/{name}", mode, content) for name, (mode, content) in named.items())
    except Invalid:
        return  # names that are one elsewhere
    folder = Folder("技能", DOCUMENT, files)
    content = packed(folder)
    assert archive.grouped(zips.read(content)) == [folder]
    assert packed(folder) == content


def test_a_zip_unpacks_with_its_modes_by_other_programs(tmp_path: Path) -> None:
    content = packed(Folder("a", DOCUMENT, [BundledFile("run.sh", 0o755, b"x")]))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert [entry.external_attr >> 16 for entry in file.infolist()] == [stat.S_IFREG | 0o644, stat.S_IFREG | 0o755]
        assert {entry.create_system for entry in file.infolist()} == {3}
