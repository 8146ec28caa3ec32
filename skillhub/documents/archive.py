"""Skill folders as values: files read from a folder, checked, and found in a tree of many. Nothing unsafe gets in or out.

A folder is refused whole: symbolic links, devices, paths that leave the folder, names that collide on other systems, and
anything above the limits.
"""

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from skillhub.errors import Invalid, TooLarge

SKILL_FILE = "SKILL.md"
SKILL_FILES = (SKILL_FILE, "skill.md")
"""Names under which a document is found; the first wins."""
MAX_FILES = 200
MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_TOTAL_BYTES = 16 * 1024 * 1024
MAX_PATH_CHARACTERS = 240
MAX_DEPTH = 8
PLAIN, EXECUTABLE = 0o644, 0o755
_NOT_CONTENT = ".git"


class BundledFile(NamedTuple):
    """One file of a skill folder. `mode` is 0o644 or 0o755: of all bits only `executable` is kept."""

    path: str
    """Relative, with `/` between the parts."""
    mode: int
    content: bytes


class Content(NamedTuple):
    """What a version holds."""

    document: str
    files: list[BundledFile]


class Folder(NamedTuple):
    """A skill's folder as it came, neither parsed nor checked."""

    path: str
    """Below the root of the tree; empty for the root itself."""
    document: bytes
    files: list[BundledFile]

    @property
    def name(self) -> str | None:
        """What the skill must be named like; None where the root itself is the skill and nobody knows its name."""
        return self.path.rpartition("/")[2] or None


def checked(files: Iterable[BundledFile]) -> list[BundledFile]:
    """The files by path, their modes made plain. Errors: Invalid with the path of the faulty file, TooLarge."""
    kept = [BundledFile(path, EXECUTABLE if mode & 0o111 else PLAIN, content) for path, mode, content in files]
    for file in kept:
        check_path(file.path)
        if len(file.content) > MAX_FILE_BYTES:
            raise TooLarge(f"{file.path} has {len(file.content)} bytes, at most {MAX_FILE_BYTES} are allowed")
    _check_totals(len(kept), sum(len(file.content) for file in kept))
    check_collisions([SKILL_FILE, *(file.path for file in kept)])
    return sorted(kept)


def check_path(path: str, *, depth: int = MAX_DEPTH, characters: int = MAX_PATH_CHARACTERS) -> None:
    """Refuse a path that is absolute, climbs out, or means something else on another system."""
    parts = path.split("/")
    faults = [
        (not path or path.startswith("/"), "must be relative"),
        (any(part in ("", ".", "..") for part in parts), "must not hold empty parts, `.` or `..`"),
        ("\\" in path or ":" in path, "must not hold a backslash or a colon"),
        (any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in path), "must not hold invisible characters"),
        (any(part != part.strip() or part.endswith(".") for part in parts), "must not have parts that end in a dot or space"),
        (len(path) > characters or len(parts) > depth, "is too long or too deep"),
    ]
    for wrong, message in faults:
        if wrong:
            raise Invalid(f"the path {path!r} {message}", path=f"/files/{path}")


def _check_totals(count: int, total: int) -> None:
    if count > MAX_FILES:
        raise TooLarge(f"the folder has {count} files, at most {MAX_FILES} are allowed")
    if total > MAX_TOTAL_BYTES:
        raise TooLarge(f"the folder has {total} bytes, at most {MAX_TOTAL_BYTES} are allowed")


def check_collisions(paths: Iterable[str]) -> None:
    """Refuse a file that stands twice, a file used as a folder, and names that are one where case or Unicode forms fold."""
    seen: dict[str, tuple[str, bool]] = {}
    for path in paths:
        for place in places(path):
            known = seen.get(_folded(place))
            if known is None:
                seen[_folded(place)] = place, place == path
            elif known != (place, False) or place == path:
                raise Invalid(f"the path {path!r} collides with {known[0]!r}", path=f"/files/{path}")


def places(path: str) -> Iterator[str]:
    """The folders of a path from the top, and the path itself: `a`, `a/b`, `a/b/c`."""
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()


def read_folder(folder: Path) -> tuple[bytes, list[BundledFile]]:
    """SKILL.md (or skill.md) of a skill folder and the other files, read without following a link.

    Errors: Invalid for a link, a device, an unsafe path or a missing SKILL.md; TooLarge.
    """
    found: list[BundledFile] = []
    total = 0
    for path in _walk(folder):
        content, mode = _read_plain(path)
        total += len(content)
        found.append(BundledFile(path.relative_to(folder).as_posix(), mode, content))
        _check_totals(len(found) - 1, total)
    name = next((name for name in SKILL_FILES if any(file.path == name for file in found)), None)
    if name is None:
        raise Invalid(f"{folder.name}: there is no {SKILL_FILE}", path=f"/{SKILL_FILE}")
    document = next(file.content for file in found if file.path == name)
    return document, checked(file for file in found if file.path != name)


def grouped(tree: Iterable[BundledFile]) -> list[Folder]:
    """The skill folders of a tree, by path; a skill's own subfolders are part of it, hidden folders are passed over."""
    tree = sorted(tree)
    holders = {file.path.rpartition("/")[0] for file in tree if file.path.rpartition("/")[2] in SKILL_FILES}
    inside: dict[str, dict[str, BundledFile]] = {}
    for file in tree:
        root = next((place for place in ["", *places(file.path)] if place in holders), None)
        if root is not None and not any(part.startswith(".") for part in root.split("/")):
            path = file.path.removeprefix(f"{root}/")
            inside.setdefault(root, {})[path] = file._replace(path=path)
    return [_folder(root, files) for root, files in sorted(inside.items())]


def _folder(root: str, files: dict[str, BundledFile]) -> Folder:
    name = next(name for name in SKILL_FILES if name in files)
    return Folder(root, files[name].content, [file for path, file in files.items() if path != name])


def find_skills(root: Path) -> list[Path]:
    """Folders at or below `root` that hold a SKILL.md, by path; a skill's own subfolders are part of it."""
    if any((root / name).is_file() for name in SKILL_FILES):
        return [root]
    folders = (entry for entry in sorted(root.iterdir()) if entry.is_dir() and not entry.is_symlink())
    return [skill for folder in folders if not folder.name.startswith(".") for skill in find_skills(folder)]


def _walk(folder: Path) -> list[Path]:
    paths: list[Path] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        if entry.name == _NOT_CONTENT:
            continue
        if entry.is_symlink():
            raise Invalid(f"{path.name} is a symbolic link", path=f"/files/{path.name}")
        paths += _walk(path) if entry.is_dir() else [path]
    return paths


def _read_plain(path: Path) -> tuple[bytes, int]:
    """Content and mode of a plain file; O_NOFOLLOW and fstat close the gap between looking and opening."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Invalid(f"{path.name} is not a plain file", path=f"/files/{path.name}")
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise TooLarge(f"{path.name} has more than {MAX_FILE_BYTES} bytes")
    return content, status.st_mode & 0o777
