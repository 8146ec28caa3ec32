"""The event log as evidence, and workspaces; commands for whoever runs the hub."""

import json
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import DEFAULT_DATA_DIR, DataDir, complain, expected_failures, settings_with_secret
from skillhub.errors import Invalid, NotFound

audit_app = typer.Typer(no_args_is_help=True, help="Verify the event log, export its head, check an exported one.")
workspace_app = typer.Typer(no_args_is_help=True, help="Workspaces, the tenants of a hub.")
app.add_typer(audit_app, name="audit")
app.add_typer(workspace_app, name="workspace")

Workspace = Annotated[str, typer.Option(help="Name of the workspace.")]


@audit_app.command()
@expected_failures
def verify(workspace: Workspace = "default", data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Follow the hash chain of a workspace's log; exit code 1 and the first bad row where it is broken."""
    from skillhub.services import audit

    with _opened(workspace, data_dir) as (scope, _):
        verdict = audit.verify(scope)
    if verdict.broken:
        complain(f"event {verdict.broken.seq} {verdict.broken.why}")
        raise typer.Exit(1)
    typer.echo(f"{verdict.checked} events, whole")


@audit_app.command()
@expected_failures
def head(workspace: Workspace = "default", data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Print the head of the log as one JSON object, to be kept elsewhere."""
    from skillhub.services import audit

    with _opened(workspace, data_dir) as (scope, secret):
        found = audit.head(scope, secret=secret)
    typer.echo(json.dumps(found.facts | {"signature": found.signature}))


@audit_app.command()
@expected_failures
def check(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What `audit head` printed.")],
    workspace: Workspace = "default",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Prove that the log still holds an exported head, with all before it as it was; exit code 1 where it does not."""
    from skillhub.services import audit

    with _opened(workspace, data_dir) as (scope, secret):
        exported = _read_head(file)
        broken = audit.check(scope, exported, secret=secret)
    if broken:
        complain(f"event {broken.seq} {broken.why}")
        raise typer.Exit(1)
    typer.echo(f"the log is as it was up to event {exported.seq}")


@workspace_app.command()
@expected_failures
def create(name: str, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Make a workspace; one that is there stays as it is."""
    from skillhub.services import keys
    from skillhub.store.session import Database

    if not name.strip():
        raise Invalid("a workspace needs a name")
    typer.echo(keys.ensure_workspace(Database(settings_with_secret(data_dir).database_url), name))


@workspace_app.command("list")
@expected_failures
def list_(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Print all workspaces, one a line."""
    from skillhub.services import keys
    from skillhub.store.session import Database

    for workspace in keys.workspaces(Database(settings_with_secret(data_dir).database_url)):
        typer.echo(f"{workspace.id}  {workspace.created_at:%Y-%m-%d}  {workspace.name}")


@contextmanager
def _opened(workspace: str, data_dir: Path):
    """The scope of a workspace that is there, and the hub's secret; NotFound for one that is not."""
    from skillhub.services import keys
    from skillhub.services.scope import Scope
    from skillhub.store.session import Database

    settings = settings_with_secret(data_dir)
    database = Database(settings.database_url)
    found = [row.id for row in keys.workspaces(database) if row.name == workspace]
    if not found:
        raise NotFound(f"there is no workspace {workspace!r}")
    yield Scope(database, found[0], "system"), settings.secret
    database.dispose()


def _read_head(file: Path):
    from skillhub.services.audit import Head

    try:
        facts = json.loads(file.read_text())
        return Head(**facts | {"at": datetime.fromisoformat(facts["at"])})
    except (ValueError, KeyError, TypeError) as error:
        raise Invalid(f"{file} is not a head that `skillhub audit head` printed: {error}") from error
