"""Running a hub: everything at once, or each process alone."""

from contextlib import suppress
from datetime import timedelta
from typing import Annotated

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import (
    DEFAULT_DATA_DIR,
    DataDir,
    Host,
    expected_failures,
    known_settings,
    say,
    settings_with_database,
    settings_with_secret,
    stopped_by_signals,
)
from skillhub.errors import Invalid


@app.command()
@expected_failures
def up(
    data_dir: DataDir = DEFAULT_DATA_DIR,
    host: Host = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the API; without it 8420, or a free one where that is taken."),
    ] = None,
) -> None:
    """Run everything on this machine: PostgreSQL, Valkey, API and worker. Ctrl-C stops all of it."""
    from skillhub.stack import Stack

    with suppress(KeyboardInterrupt), stopped_by_signals(), Stack(data_dir, progress=say, host=host, port=port) as stack:
        typer.echo(f"skillhub is ready: {stack.url}")
        if admin_key := stack.first_key():
            typer.echo(f"admin key, shown only now: {admin_key}")
        say("Ctrl-C stops it")
        stack.watch()
    typer.echo("stopped")


@app.command()
@expected_failures
def serve(
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8420,
    fd: Annotated[int | None, typer.Option(help="Descriptor of an inherited listening socket, in place of both.")] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Run the API alone, against SKILLHUB_DATABASE_URL."""
    from api import requests, server
    from api.app import create_app
    from skillhub import logs, tracing
    from workers.app import announcer

    settings = settings_with_secret(data_dir)
    tracing.configure("skillhub-api")
    logs.configure(settings.log_format, fields=requests.fields)
    server.serve(create_app(settings, announce=announcer(settings)), host=host, port=port, fd=fd)


@app.command()
@expected_failures
def worker(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Run a worker alone, against SKILLHUB_DATABASE_URL and SKILLHUB_BROKER_URL."""
    from skillhub import logs, tracing
    from workers.app import run_worker

    settings = settings_with_database(data_dir)
    tracing.configure("skillhub-worker")
    logs.configure(settings.log_format)
    raise typer.Exit(run_worker(settings))


@app.command()
@expected_failures
def migrate(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Bring the schema of the database up to date."""
    from skillhub.store import schema

    schema.upgrade(settings_with_database(data_dir).database_url)
    typer.echo(f"the schema is at revision {schema.head()}")


@app.command()
@expected_failures
def key(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    workspace: Annotated[str, typer.Option(help="Workspace that it opens; made where it is not there.")] = "default",
    role: Annotated[str, typer.Option(help="read, record, propose, publish or admin: each includes those before.")] = "admin",
    days: Annotated[int | None, typer.Option(min=1, help="Days after which it expires; without it, it does not.")] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Make another key and print it; it cannot be shown again."""
    from skillhub.models.base import now
    from skillhub.services import keys
    from skillhub.stack import workspace_scope

    if not name.strip() or not workspace.strip():
        raise Invalid("a key needs a name and a workspace")
    settings = settings_with_secret(data_dir)
    with workspace_scope(settings.database_url, workspace) as scope:
        expires_at = now() + timedelta(days=days) if days else None
        typer.echo(keys.create(scope, name=name, secret=settings.secret, role=role, expires_at=expires_at)[1])


@app.command()
def doctor(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Say in plain words what is wrong with this installation."""
    from skillhub.doctor import examine

    marks = {True: ("ok", "green"), False: ("FAULT", "red"), None: ("-", "yellow")}
    findings = []
    for finding in examine(known_settings(data_dir)):
        findings.append(finding)
        mark, color = marks[finding.ok]
        typer.echo(f"{typer.style(f'{mark:>5}', fg=color)}  {finding.check}: {finding.detail}")
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(1)
