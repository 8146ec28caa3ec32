"""What the commands share: their options, settings and client, and how they speak, fail and stop."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import typer

from skillhub.config import Settings
from skillhub.errors import SkillhubError, Unavailable

if TYPE_CHECKING:
    from skillhub_client import Client

P = ParamSpec("P")
T = TypeVar("T")

DataDir = Annotated[Path, typer.Option("--data-dir", envvar="SKILLHUB_DATA_DIR", help="Folder of the embedded servers.")]
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Url = Annotated[str, typer.Option("--url", envvar="SKILLHUB_URL", help="URL of the hub; without it the one that runs here.")]
Key = Annotated[
    str, typer.Option("--key", envvar="SKILLHUB_API_KEY", help="API key; without it the one of the hub that runs here.")
]
DEFAULT_DATA_DIR = Path(".skillhub")


def expected_failures(command: Callable[P, T]) -> Callable[P, T]:
    """Errors that a person can do something about become one line and exit code 1; others keep their traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, _expected()):
                raise
            complain(str(getattr(error, "orig", error)).strip())  # SQLAlchemy keeps the plain message in `orig`
            raise typer.Exit(1) from error

    return run


def _expected() -> tuple[type[Exception], ...]:
    import skillhub_client
    from sqlalchemy.exc import OperationalError

    return (SkillhubError, skillhub_client.SkillhubError, OperationalError, OSError)


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


def complain(text: str) -> None:
    typer.secho(f"error: {text}", fg="red", err=True)


def say(line: str) -> None:
    typer.secho(line, err=True, dim=True)


def known_settings(data_dir: Path) -> Settings:
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


def settings_with_database(data_dir: Path) -> Settings:
    """Settings that name a database, else Unavailable."""
    settings = known_settings(data_dir)
    if not settings.database_url:
        raise Unavailable("no database: set SKILLHUB_DATABASE_URL, or start everything with `skillhub up`")
    return settings


def settings_with_secret(data_dir: Path) -> Settings:
    """Settings that name a database and the secret over its API keys, else Unavailable."""
    settings = settings_with_database(data_dir)
    if not settings.secret:
        raise Unavailable("no secret: set SKILLHUB_SECRET to the same long random text for every API process")
    return settings


def open_client(url: str, key: str, data_dir: Path) -> "Client":
    """A client of the hub that was named, else of the one that runs in the data folder."""
    from skillhub_client import Client

    return Client(*hub_address(url, key, data_dir))


def hub_address(url: str, key: str, data_dir: Path) -> tuple[str, str]:
    """URL and key of the hub that was named, else of the one that runs in the data folder; Unavailable without one."""
    from skillhub.stack import Running

    running = Running.find(data_dir)
    if not url and running is None:
        raise Unavailable("no hub: start one with `skillhub up`, or name one with --url and --key")
    if not url:
        return running.url, key or running.key
    if not key:
        raise Unavailable("no API key: give --key or set SKILLHUB_API_KEY")
    return url, key
