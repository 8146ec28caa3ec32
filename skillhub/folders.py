"""Skills on this machine: a folder, a tree of many or a zip, as zips that a hub takes; and judged where they lie.

A verdict is that of the format alone. What would keep a valid skill from being published comes as a warning.
"""

import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillhub.documents import archive, parse, zips
from skillhub.documents.archive import SKILL_FILES, BundledFile, Folder
from skillhub.errors import Conflict, Invalid, SkillhubError, TooLarge
from skillhub.safety import publication

PACK_BYTES = 16 * 1024 * 1024
"""Content of the folders that go into one zip, and so into one request, unless a single folder is larger."""
PACK_FOLDERS = 200


@dataclass(frozen=True)
class Verdict:
    """What the format says of one skill, and what else a reader should know."""

    path: str
    errors: list[dict[str, Any]] = field(default_factory=list)
    """`message`, and the `line` of SKILL.md, None where the fault has none."""
    warnings: list[dict[str, Any]] = field(default_factory=list)
    """The same, and the `path` of the file where it is another."""

    @property
    def valid(self) -> bool:
        return not self.errors


def read(folder: Path, *, root: Path) -> Folder:
    """One skill folder. Its path is that below `root`, or its own name where it is the root. Errors: Invalid, TooLarge."""
    document, files = archive.read_folder(folder)
    path = folder.name if folder == root else folder.relative_to(root).as_posix()
    return Folder(path, document, files)


def packed(folders: Iterable[Folder]) -> Iterator[bytes]:
    """The folders in zips of a size that a hub takes."""
    pack: list[Folder] = []
    size = 0
    for folder in folders:
        own = len(folder.document) + sum(len(file.content) for file in folder.files)
        if pack and (size + own > PACK_BYTES or len(pack) >= PACK_FOLDERS):
            yield _zip(pack)
            pack, size = [], 0
        pack.append(folder)
        size += own
    if pack:
        yield _zip(pack)


def judged(path: Path) -> list[Verdict]:
    """A verdict on each skill of a folder, a tree of folders, a zip, or on a single SKILL.md.

    A path without any skill, or without anything, is one invalid skill.
    """
    path = Path(os.path.abspath(path))  # `.` has a name too; a link keeps its own
    if not path.exists():
        return [Verdict(str(path), [{"message": "the path does not exist", "line": None}])]
    if path.is_file() and path.name in SKILL_FILES:
        path = path.parent
    if path.is_file():
        return _judged_zip(path)
    found = archive.find_skills(path)
    return [_judged_folder(folder) for folder in found] or [_missing(path)]


def unpacked(content: bytes, target: Path) -> list[Path]:
    """Write the skill folders of a zip below `target` and return their paths. Errors: Conflict where one is there already."""
    folders = archive.grouped(zips.read(content))
    paths = [target / folder.path for folder in folders]
    for path in paths:
        if path.exists() or path.is_symlink():
            raise Conflict(f"{path} is there already")
    for path, folder in zip(paths, folders, strict=True):
        for file in [BundledFile(archive.SKILL_FILE, archive.PLAIN, folder.document), *folder.files]:
            (path / file.path).parent.mkdir(parents=True, exist_ok=True)
            (path / file.path).write_bytes(file.content)
            (path / file.path).chmod(file.mode)
    return paths


def _zip(folders: list[Folder]) -> bytes:
    buffer = io.BytesIO()
    zips.write(folders, buffer)
    return buffer.getvalue()


def _judged_folder(folder: Path) -> Verdict:
    try:
        files = read(folder, root=folder).files
    except (Invalid, TooLarge) as error:
        return _judged(str(folder), _document(folder), name=folder.name, files=[], doubts=_faults(error))
    return _judged(str(folder), _document(folder), name=folder.name, files=files, doubts=[])


def _document(folder: Path) -> bytes:
    """The bytes the reference validator would read, even through a link."""
    return next(folder / name for name in SKILL_FILES if (folder / name).is_file()).read_bytes()


def _judged_zip(path: Path) -> list[Verdict]:
    try:
        folders = archive.grouped(zips.read(path.read_bytes()))
    except (Invalid, TooLarge) as error:
        return [Verdict(str(path), _faults(error))]
    if not folders:
        return [_missing(path)]
    return [_judged(folder.path, folder.document, name=folder.name, files=folder.files, doubts=[]) for folder in folders]


def _judged(path: str, document: bytes, *, name: str | None, files: list[BundledFile], doubts: list[dict]) -> Verdict:
    try:
        text = parse(document, name=name).text
    except (Invalid, TooLarge) as error:
        return Verdict(path, _faults(error), doubts)
    try:
        archive.checked(files)
    except (Invalid, TooLarge) as error:
        doubts = [*doubts, *_faults(error)]
    refused = [{"message": f"would not be published: {doubt['message']}", "line": None} for doubt in doubts]
    refused += [_warning(found, "would not be published: ") for found in publication.refusals(text, files)]
    return Verdict(path, [], refused + [_warning(found) for found in publication.warnings(text, files)])


def _warning(found: publication.Finding, lead: str = "") -> dict[str, Any]:
    return {"message": lead + found.message, "line": found.line, "path": found.path}


def _faults(error: SkillhubError) -> list[dict[str, Any]]:
    listed = error.errors if isinstance(error, Invalid) else [{"message": error.detail}]
    return [{"message": fault["message"], "line": fault.get("line")} for fault in listed]


def _missing(path: Path) -> Verdict:
    return Verdict(str(path), [{"message": "there is no SKILL.md", "line": None}])
