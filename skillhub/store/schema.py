"""The schema's migrations: apply them, and tell how far a database is."""

import random
import time
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import DeadlockDetected, LockNotAvailable
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

from skillhub.errors import Unavailable
from skillhub.store.session import sqlalchemy_url

_LOCKED = (
    "a table is kept locked by another session: see pg_stat_activity, end it, and run `skillhub migrate` again; the steps that "
    "were done stay"
)
MIGRATIONS = Path(__file__).parents[2] / "migrations"


def upgrade(url: str, *, revision: str = "head", lock_seconds: float = 30.0) -> None:
    """Bring the database to a revision, each step in a transaction of its own; waits for another process that does the same.

    A step that does not get its locks at once gives up those it has and tries again: so no statement of those who use the
    database waits long, or is the victim of a deadlock. Unavailable after `lock_seconds`; steps that were done stay.
    """
    config = _config()
    config.attributes["url"] = url
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            command.upgrade(config, revision)
            return
        except OperationalError as error:
            if not isinstance(error.orig, LockNotAvailable | DeadlockDetected):
                raise
            if time.monotonic() > deadline:
                raise Unavailable(_LOCKED) from error
        time.sleep(random.uniform(0.1, 0.5))


def revisions() -> list[str]:
    """All revisions, the oldest first."""
    return [script.revision for script in reversed(list(ScriptDirectory.from_config(_config()).walk_revisions()))]


@cache
def head() -> str:
    """The revision this code needs."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def current(url: str) -> str | None:
    """The revision the database has; None where it has none."""
    engine = create_engine(sqlalchemy_url(url))
    try:
        with engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    finally:
        engine.dispose()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
