"""Zip bytes -> the files inside, and skill folders -> a zip. An unsafe zip is refused whole, with its entry named.

Names are judged as they stand in the archive: Python's `filename` is already mended, `orig_filename` is not. Nothing is
written anywhere, and no entry is unpacked beyond what the limits allow, whatever its header says.
"""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import IO

from skillhub.documents.archive import (
    MAX_DEPTH,
    MAX_FILE_BYTES,
    MAX_PATH_CHARACTERS,
    MAX_TOTAL_BYTES,
    PLAIN,
    SKILL_FILE,
    BundledFile,
    Folder,
    check_collisions,
    check_path,
)
from skillhub.errors import Invalid, TooLarge

MAX_ENTRIES = 10_000
MAX_DIRECTORY_BYTES = 4 * 1024 * 1024
"""Size of the list of entries, which has to be read before they can be counted."""
MAX_UNPACKED_BYTES = 128 * 1024 * 1024
MAX_RATIO = 100
"""Unpacked bytes for each packed one, beyond what a single skill may have anyway."""
MAX_TREE_DEPTH = MAX_DEPTH + 8
MAX_TREE_CHARACTERS = 2 * MAX_PATH_CHARACTERS

_END, _END64 = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES = 22
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_NAME_IS_UTF8 = 0x800
_TIME = (1980, 1, 1, 0, 0, 0)
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OverflowError, OSError)


def read(content: bytes) -> list[BundledFile]:
    """All files of a zip. Errors: TooLarge; Invalid for what is no zip, is broken, or holds more than safe plain files."""
    _check_directory(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _files(archive, most=min(MAX_UNPACKED_BYTES, max(MAX_TOTAL_BYTES, MAX_RATIO * len(content))))
    except _BROKEN as error:
        raise Invalid(f"this is no zip that can be read: {error}", path="/zip") from error


def write(folders: Iterable[Folder], into: IO[bytes]) -> None:
    """A zip with each folder under its path; equal content gives equal bytes."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in folders:
            for path, mode, content in [BundledFile(SKILL_FILE, PLAIN, folder.document), *folder.files]:
                entry = zipfile.ZipInfo(f"{folder.path}/{path}".lstrip("/"), date_time=_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, so that the mode is read as one
                entry.external_attr = (stat.S_IFREG | mode) << 16
                archive.writestr(entry, content)


def _check_directory(content: bytes) -> None:
    """Bound the list of entries before anyone parses it."""
    at = len(content) - _END_BYTES
    if not (content[at : at + 4] == _END and content.endswith(b"\0\0")):
        at = content.rfind(_END, max(0, len(content) - _END_BYTES - 0xFFFF))
    if at < 0 or len(content) < at + _END_BYTES:
        raise Invalid("this is no zip, or its end is cut off", path="/zip")
    (size,) = struct.unpack_from("<L", content, at + 12)
    if size > MAX_DIRECTORY_BYTES or content[max(0, at - 20) : at][:4] == _END64:
        raise TooLarge(f"the zip's list of entries is larger than {MAX_DIRECTORY_BYTES} bytes")


def _files(archive: zipfile.ZipFile, *, most: int) -> list[BundledFile]:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise TooLarge(f"the zip has {len(entries)} entries, at most {MAX_ENTRIES} are allowed")
    names = [_checked_name(entry) for entry in entries]
    plain = [(name, entry) for name, entry in zip(names, entries, strict=True) if not name.endswith("/")]
    check_collisions(name for name, _ in plain)
    files, left = [], most
    for name, entry in plain:
        content = _content(archive, entry, name, most=min(left, MAX_FILE_BYTES))
        left -= len(content)
        files.append(BundledFile(name, entry.external_attr >> 16 & 0o777, content))
    return files


def _checked_name(entry: zipfile.ZipInfo) -> str:
    """The name of an entry that is safe to read; a folder's ends in `/`."""
    name = _name(entry)
    check_path(name.removesuffix("/"), depth=MAX_TREE_DEPTH, characters=MAX_TREE_CHARACTERS)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    faults = [
        (kind not in (0, stat.S_IFDIR if name.endswith("/") else stat.S_IFREG), "is a link or a device, not a plain file"),
        (entry.flag_bits & _ENCRYPTED, "is encrypted"),
        (entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), "is packed by a method that is not read here"),
    ]
    for wrong, why in faults:
        if wrong:
            raise _refused(name, why)
    return name


def _name(entry: zipfile.ZipInfo) -> str:
    raw = entry.orig_filename
    if entry.flag_bits & _NAME_IS_UTF8:
        return raw
    try:
        return raw.encode("cp437").decode()
    except UnicodeError as error:
        raise _refused(raw, "has a name that is not UTF-8") from error


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, *, most: int) -> bytes:
    try:
        with archive.open(entry) as stream:
            content = stream.read(most + 1)
    except _BROKEN as error:
        raise _refused(name, f"is broken: {error}") from error
    if len(content) > most:
        raise TooLarge(f"the entry {name!r} opens to more than the {most} bytes that are left for it")
    return content


def _refused(name: str, why: str) -> Invalid:
    return Invalid(f"the entry {name!r} {why}", path=f"/zip/{name}")
