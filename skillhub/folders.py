"""Skill folders on this machine, published to a hub over HTTP. In: a folder and a client. Out: `name@number`."""

import base64
import io
import zipfile
from pathlib import Path

import skillhub_client
from skillhub_client import Client, SkillFile

from skillhub.documents import archive, parse
from skillhub.documents.archive import BundledFile
from skillhub.errors import Conflict


def publish(client: Client, folder: Path, *, label: str) -> str:
    """Publish one folder as a new skill, or as the next version of the one of its name.

    Errors: Invalid and TooLarge of the folder, Conflict, and those of the client.
    """
    source, files = archive.read_folder(folder)
    document = parse(source, name=folder.name)
    try:
        skill = client.create_skill(
            document.name, document.text, files=[_as_input(file) for file in files], message="imported", label=label
        )
        return f"{skill.name}@{skill.labels[label]}"
    except skillhub_client.Conflict:
        _refuse_other_files(client, document.name, files)
    version = client.publish_version(document.name, document.text, message="imported", label=label)
    return f"{document.name}@{version.number}"


def _as_input(file: BundledFile) -> SkillFile:
    return SkillFile(path=file.path, mode=file.mode, content_base64=base64.b64encode(file.content).decode())


def _refuse_other_files(client: Client, name: str, files: list[BundledFile]) -> None:
    """A new version keeps the bundled files of the one before it, so others would be dropped silently: Conflict."""
    with zipfile.ZipFile(io.BytesIO(client.export_skill(name, label="latest"))) as stored:
        known = {entry.removeprefix(f"{name}/"): stored.read(entry) for entry in stored.namelist()}
    known.pop(archive.SKILL_FILE, None)
    if known != {file.path: file.content for file in files}:
        raise Conflict(f"{name} exists with other bundled files, which a new version over HTTP cannot replace")
