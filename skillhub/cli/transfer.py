"""Skills in, out and found, over HTTP."""

from pathlib import Path
from typing import Annotated

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


@app.command("import")
@expected_failures
def import_(
    path: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="A skill folder (with SKILL.md), or a folder of them.")
    ],
    label: Annotated[str, typer.Option(help="Label that the versions get.")] = "production",
    url: Url = "",
    key: Key = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Publish skill folders. One that is refused keeps no other back."""
    import skillhub_client

    from skillhub.documents import archive
    from skillhub.folders import publish

    found = archive.find_skills(path.resolve())
    if not found:
        raise NotFound(f"there is no SKILL.md in {path} or below it")
    refused = 0
    with open_client(url, key, data_dir) as client:
        for folder in found:
            try:
                typer.echo(publish(client, folder, label=label))
            except (SkillhubError, skillhub_client.ApiError) as error:
                refused += 1
                complain(f"{folder.name}: {error}")
    raise typer.Exit(1 if refused else 0)


@app.command()
@expected_failures
def export(
    name: str,
    version: Annotated[int | None, typer.Option(help="Number of the version.")] = None,
    label: Annotated[str | None, typer.Option(help="Label of the version; `production` where neither is given.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Zip file to write; NAME.zip where not given.")] = None,
    url: Url = "",
    key: Key = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Write a skill's folder as a zip file."""
    if version is not None and label is not None:
        raise Invalid("give --version or --label, not both")
    with open_client(url, key, data_dir) as client:
        content = client.export_skill(name, version=version, label=label if version or label else "production")
    target = output or Path(f"{name}.zip")
    target.write_bytes(content)
    typer.echo(f"{target}: {len(content)} bytes")


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
