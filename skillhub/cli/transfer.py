"""Skills in, out and found, over HTTP."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import (
    DEFAULT_DATA_DIR,
    DataDir,
    Key,
    Url,
    complain,
    expected_failures,
    open_client,
)
from skillhub.errors import Invalid, NotFound, SkillhubError

if TYPE_CHECKING:
    from skillhub_client import Imported

    from skillhub.documents.archive import Folder


LINES = ".ndjson"


@app.command("import")
@expected_failures
def import_(
    path: Annotated[
        Path, typer.Argument(exists=True, help="A skill folder (with SKILL.md), a folder of them, a zip, or lines (.ndjson).")
    ],
    label: Annotated[str, typer.Option(help="Label that the versions get.")] = "production",
    url: Url = "",
    key: Key = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Publish skills with their files. One that is refused keeps no other back."""
    from skillhub.folders import packed

    refused: list[str] = []
    found = _found(path)
    with open_client(url, key, data_dir) as client:
        if path.suffix == LINES:
            _report_lines(client.import_ndjson(_lines(path)), refused)
            raise typer.Exit(1 if refused else 0)
        for content in packed(_read(found, path.resolve(), refused)) if path.is_dir() else [path.read_bytes()]:
            _report(client.import_skills(content, label=label).results, refused)
    raise typer.Exit(1 if refused else 0)


def _found(path: Path) -> list[Path]:
    """The skill folders at or below a folder."""
    from skillhub.documents import archive

    found = archive.find_skills(path.resolve()) if path.is_dir() else []
    if path.is_dir() and not found:
        raise NotFound(f"there is no SKILL.md in {path} or below it")
    return found


def _read(found: Sequence[Path], root: Path, refused: list[str]) -> Iterator["Folder"]:
    """The folders; those that may not be sent are told and noted."""
    from skillhub.folders import read

    for folder in found:
        try:
            yield read(folder, root=root)
        except SkillhubError as error:
            refused.append(folder.name)
            complain(f"{folder.name}: {error}")


def _lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, one a line. Invalid for the first line that is none."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(dict(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise Invalid(f"{path}: line {number} is not a JSON object: {error}") from error
    return found


def _report_lines(results: Iterable[Mapping[str, Any]], refused: list[str]) -> None:
    for item in results:
        if "error" in item:
            refused.append(f"line {item['line']}")
            complain(f"line {item['line']}: {item['error']['detail']}")
        else:
            typer.echo(f"{item['skill']}@{item['number']}")


def _report(results: Sequence["Imported"], refused: list[str]) -> None:
    for item in results:
        if item.error is None:
            typer.echo(f"{item.skill}@{item.number}")
        else:
            refused.append(item.folder)
            complain(f"{item.folder or 'the skill'}: {item.error.detail}")


@app.command()
@expected_failures
def export(
    names: Annotated[list[str] | None, typer.Argument(help="Skills; all that are published where none is named.")] = None,
    version: Annotated[int | None, typer.Option(help="Number of the version, of one skill.")] = None,
    label: Annotated[str | None, typer.Option(help="Label of the versions; `production` where neither is given.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Zip or .ndjson file to write, or a folder; NAME.zip or skills.zip else."),
    ] = None,
    url: Url = "",
    key: Key = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Write the folders of skills as a zip file, or into a folder; or all skills as JSON lines."""
    names = names or []
    if version is not None and (label is not None or len(names) != 1):
        raise Invalid("give --version with one name, and not both --version and --label")
    if output is not None and output.suffix == LINES:
        if names:
            raise Invalid(f"a {LINES} file holds all skills; name none")
        with open_client(url, key, data_dir) as client:
            _write_lines(client.export_ndjson(label=label or "production"), output)
        return
    with open_client(url, key, data_dir) as client:
        if version is not None:
            content = client.export_skill(names[0], version=version)
        else:
            content = client.export_skills(names, label=label or "production")
    _write(content, output or Path(f"{names[0] if len(names) == 1 else 'skills'}.zip"))


def _write_lines(lines: Iterable[Mapping[str, Any]], target: Path) -> None:
    """All lines, or no file: they are written beside the target first."""
    part = target.with_name(f"{target.name}.part")
    with part.open("w", encoding="utf-8") as file:
        count = sum(file.write(json.dumps(line, ensure_ascii=False) + "\n") > 0 for line in lines)
    part.replace(target)
    typer.echo(f"{target}: {count} skills")


def _write(content: bytes, target: Path) -> None:
    """A zip where the target is named like one, else the files below it; what is there already is refused, not replaced."""
    from skillhub.folders import unpacked

    if target.suffix == ".zip":
        target.write_bytes(content)
        typer.echo(f"{target}: {len(content)} bytes")
        return
    for path in unpacked(content, target):
        typer.echo(str(path))


@app.command()
@expected_failures
def search(
    query: str,
    k: Annotated[int, typer.Option("-k", help="How many.")] = 10,
    url: Url = "",
    key: Key = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Find skills for a task."""
    with open_client(url, key, data_dir) as client:
        hits = client.search(query, k=k).hits
    for hit in hits:
        typer.echo(f"{hit.score:8.4f}  {hit.skill}@{hit.number}  {hit.description}")
    if not hits:
        typer.echo("nothing found")
