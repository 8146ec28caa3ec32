"""A whole hub in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import DEFAULT_DATA_DIR, DataDir, expected_failures, settings_with_database


@app.command()
@expected_failures
def backup(file: Annotated[Path, typer.Argument(help="File to write.")], data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Write everything that is stored now to one file, while the hub runs. Keep SKILLHUB_SECRET elsewhere: it is not in it."""
    from skillhub import backup as backups

    manifest = backups.backup(settings_with_database(data_dir).database_url, file)
    typer.echo(f"{file}: {file.stat().st_size} bytes, {sum(manifest['rows'].values())} rows, schema {manifest['revision']}")


@app.command()
@expected_failures
def restore(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What `backup` wrote.")],
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Bring a backup into the empty database of SKILLHUB_DATABASE_URL, and prove that it is whole."""
    from skillhub import backup as backups

    manifest = backups.restore(settings_with_database(data_dir).database_url, file)
    typer.echo(f"{sum(manifest['rows'].values())} rows restored, {len(manifest['heads'])} logs whole")
