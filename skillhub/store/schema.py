"""The schema's migrations: apply them, and tell how far a database is."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from skillhub.store.session import sqlalchemy_url

MIGRATIONS = Path(__file__).parents[2] / "migrations"


def upgrade(url: str) -> None:
    """Bring the database to the newest revision; waits for another process that does the same."""
    config = _config()
    config.attributes["url"] = url
    command.upgrade(config, "head")


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
