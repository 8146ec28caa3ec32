"""The `skillhub` command. Imports what a command needs inside it, so that `--help` is quick."""

import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar
from urllib.parse import urlsplit

import typer

from skillhub.config import Settings
from skillhub.errors import Invalid, NotFound, SkillhubError, Unavailable

if TYPE_CHECKING:
    from skillhub_client import Client

    from skillhub.stack import Stack

P = ParamSpec("P")
T = TypeVar("T")

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="The memory that trains with your agents."
)

DataDir = Annotated[Path, typer.Option("--data-dir", envvar="SKILLHUB_DATA_DIR", help="Folder of the embedded servers.")]
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Url = Annotated[str, typer.Option("--url", envvar="SKILLHUB_URL", help="URL of the hub; without it the one that runs here.")]
Key = Annotated[
    str, typer.Option("--key", envvar="SKILLHUB_API_KEY", help="API key; without it the one of the hub that runs here.")
]
DEFAULT_DATA_DIR = Path(".skillhub")
DEMO_DATA_DIR = Path(".skillhub-demo")
"""The demo's own, so that it uses nothing up in yours."""


def expected_failures(command: Callable[P, T]) -> Callable[P, T]:
    """Errors that a person can do something about become one line and exit code 1; others keep their traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, _expected()):
                raise
            _complain(str(getattr(error, "orig", error)).strip())  # SQLAlchemy keeps the plain message in `orig`
            raise typer.Exit(1) from error

    return run


def _expected() -> tuple[type[Exception], ...]:
    import skillhub_client
    from sqlalchemy.exc import OperationalError

    return (SkillhubError, skillhub_client.SkillhubError, OperationalError, OSError)


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

    with suppress(KeyboardInterrupt), stopped_by_signals(), Stack(data_dir, progress=_say, host=host, port=port) as stack:
        typer.echo(f"skillhub is ready: {stack.url}")
        if admin_key := stack.first_key():
            typer.echo(f"admin key, shown only now: {admin_key}")
        _say("Ctrl-C stops it")
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
    import uvicorn

    from api.app import create_app
    from workers.app import announcer

    settings = _with_secret(data_dir)
    config = uvicorn.Config(create_app(settings, announce=announcer(settings)), host=host, port=port, log_level="info")
    uvicorn.Server(config).run(sockets=None if fd is None else [socket.socket(fileno=fd)])


@app.command()
@expected_failures
def worker(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Run a worker alone, against SKILLHUB_DATABASE_URL and SKILLHUB_BROKER_URL."""
    from workers.app import run_worker

    raise typer.Exit(run_worker(_with_database(data_dir)))


@app.command()
@expected_failures
def migrate(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Bring the schema of the database up to date."""
    from skillhub.store import schema

    schema.upgrade(_with_database(data_dir).database_url)
    typer.echo(f"the schema is at revision {schema.head()}")


@app.command()
@expected_failures
def key(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    workspace: Annotated[str, typer.Option(help="Workspace that it opens; made where it is not there.")] = "default",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Make another admin key and print it; it cannot be shown again."""
    from skillhub.services import keys
    from skillhub.stack import workspace_scope

    if not name.strip() or not workspace.strip():
        raise Invalid("a key needs a name and a workspace")
    settings = _with_secret(data_dir)
    with workspace_scope(settings.database_url, workspace) as scope:
        typer.echo(keys.create_key(scope, name=name, secret=settings.secret))


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
    with _client(url, key, data_dir) as client:
        for folder in found:
            try:
                typer.echo(publish(client, folder, label=label))
            except (SkillhubError, skillhub_client.ApiError) as error:
                refused += 1
                _complain(f"{folder.name}: {error}")
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
    with _client(url, key, data_dir) as client:
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
    with _client(url, key, data_dir) as client:
        hits = client.search(query, k=k).hits
    for hit in hits:
        typer.echo(f"{hit.score:8.4f}  {hit.skill}@{hit.number}  {hit.description}")
    if not hits:
        typer.echo("nothing found")


@app.command()
def doctor(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Say in plain words what is wrong with this installation."""
    from skillhub.doctor import examine

    marks = {True: ("ok", "green"), False: ("FAULT", "red"), None: ("-", "yellow")}
    findings = []
    for finding in examine(_known(data_dir)):
        findings.append(finding)
        mark, color = marks[finding.ok]
        typer.echo(f"{typer.style(f'{mark:>5}', fg=color)}  {finding.check}: {finding.detail}")
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(1)


@app.command()
@expected_failures
def demo(
    tasks: Annotated[str | None, typer.Option(help="ScienceWorld task types, with commas between.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")] = False,
    data_dir: DataDir = DEMO_DATA_DIR,
) -> None:
    """Walk the whole circle in a real simulator: episodes, candidates, gate, versions, contexts."""
    try:
        from demo import circle
    except ModuleNotFoundError as error:
        raise Unavailable(f"the demo needs {error.name}: pip install 'skillhub[demo]'") from error
    names = circle.TASKS if tasks is None else [name.strip() for name in tasks.split(",") if name.strip()]
    if not names:
        raise Invalid("--tasks names no task type")
    try:
        with stopped_by_signals(), circle.walked(names, data_dir=data_dir, say=_say) as (report, stack):
            typer.echo(json.dumps(report.as_json(), indent=2) if as_json else report.text())
            if _in_terminal():
                _serve_on(stack)
    except KeyboardInterrupt:
        _complain("interrupted")
        raise typer.Exit(130) from None
    again = f"--data-dir {data_dir}"
    _say(f"The link holds for a day while the hub runs: skillhub up {again} --port {urlsplit(report.url).port}")
    _say(f"A key to its workspace, while it runs: skillhub key me --workspace {report.workspace} {again}")


def _in_terminal() -> bool:
    return sys.stdout.isatty()


def _serve_on(stack: "Stack") -> None:
    _say("The hub serves on, so that you can open the link; Ctrl-C stops it.")
    with suppress(KeyboardInterrupt):
        stack.watch()


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise KeyboardInterrupt as Ctrl-C does, so that what is open is closed.

    Ctrl-C does so even where a script's background job was told to ignore it; a hang-up that `nohup` ignores stays ignored.
    """
    heard = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        heard.append(signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _complain(text: str) -> None:
    typer.secho(f"error: {text}", fg="red", err=True)


def _say(line: str) -> None:
    typer.secho(line, err=True, dim=True)


def _known(data_dir: Path) -> Settings:
    """The settings; where they name no server, those of the stack that runs in the data folder, if one does."""
    from skillhub.stack import Running

    settings = Settings(data_dir=data_dir)
    running = None if settings.database_url or settings.broker_url else Running.find(data_dir)
    if running:
        settings = settings.model_copy(update={"database_url": running.database_url, "broker_url": running.broker_url})
    secret = data_dir / "secret"
    if not settings.secret and secret.exists():
        settings = settings.model_copy(update={"secret": secret.read_text()})
    return settings


def _with_database(data_dir: Path) -> Settings:
    """Settings that name a database, else Unavailable."""
    settings = _known(data_dir)
    if not settings.database_url:
        raise Unavailable("no database: set SKILLHUB_DATABASE_URL, or start everything with `skillhub up`")
    return settings


def _with_secret(data_dir: Path) -> Settings:
    """Settings that name a database and the secret over its API keys, else Unavailable."""
    settings = _with_database(data_dir)
    if not settings.secret:
        raise Unavailable("no secret: set SKILLHUB_SECRET to the same long random text for every API process")
    return settings


def _client(url: str, key: str, data_dir: Path) -> "Client":
    """A client of the hub that was named, else of the one that runs in the data folder."""
    from skillhub_client import Client

    from skillhub.stack import Running

    running = Running.find(data_dir)
    if not url and running is None:
        raise Unavailable("no hub: start one with `skillhub up`, or name one with --url and --key")
    if not url:
        return Client(running.url, key or running.key)
    if not key:
        raise Unavailable("no API key: give --key or set SKILLHUB_API_KEY")
    return Client(url, key)


if __name__ == "__main__":
    app()
