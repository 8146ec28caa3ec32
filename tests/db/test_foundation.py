"""The ground everything stands on: isolation, immutability, the chain."""

import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.exc import DBAPIError

from skillhub.models import Event, Workspace
from skillhub.services.scope import Scope
from skillhub.store import events
from skillhub.store.durability import NotDurable
from skillhub.store.session import Database
from tests import chain
from tests.conftest import ROOT


def test_the_schema_and_the_models_do_not_differ(database_url: str) -> None:
    config = Config(ROOT / "alembic.ini")
    config.attributes["url"] = database_url
    command.check(config)  # raises where they differ


def test_a_workspace_sees_only_its_own_rows(scope: Scope) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    with scope.transaction() as unit:
        unit.record("thing.created", "x")
    with scope.database.transaction("wsp_other") as session:
        assert session.exec(sa.select(sa.func.count()).select_from(Event)).scalar_one() == 0
        assert session.exec(sa.select(Workspace.id)).scalars().all() == ["wsp_other"]


def test_a_row_of_another_workspace_cannot_be_written(scope: Scope) -> None:
    with pytest.raises(DBAPIError, match="row-level security"), scope.database.transaction("wsp_other") as session:
        events.append(session, workspace_id="wsp_test", actor="a", kind="thing.created", subject_id="x", payload={})


@pytest.mark.parametrize("statement", ["UPDATE event SET actor = 'x'", "DELETE FROM version", "TRUNCATE version_parent"])
def test_versions_and_events_are_immutable(scope: Scope, statement: str) -> None:
    with scope.transaction() as unit:
        unit.record("thing.created", "x")
    with pytest.raises(DBAPIError, match=r"immutable|permission denied"), scope.transaction() as unit:
        unit.session.execute(sa.text(statement))


def test_tampering_with_the_log_names_the_first_bad_row(scope: Scope) -> None:
    for number in range(5):
        with scope.transaction() as unit:
            unit.record("thing.created", "x", number=number)
    with scope.database.transaction("wsp_test") as session:
        assert chain.first_broken(session, "wsp_test") is None
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("SET LOCAL session_replication_role = replica"))
        owner.execute(sa.text("UPDATE event SET payload = '{\"number\": 99}' WHERE seq = 3"))
    with scope.database.transaction("wsp_test") as session:
        assert chain.first_broken(session, "wsp_test") == 3


@pytest.mark.parametrize("setting", ["synchronous_commit=off", "synchronous_commit=local", "synchronous_commit=remote_write"])
def test_a_database_that_could_lose_acknowledged_writes_is_refused(database_url: str, setting: str) -> None:
    name, value = setting.split("=")
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(f"ALTER DATABASE {owner.info.dbname} SET {name} TO {value}")
    lossy = Database(database_url)
    with pytest.raises(NotDurable, match=setting), lossy.system_transaction():
        pass
    with pytest.raises(NotDurable, match=setting):
        lossy.ping()
    lossy.dispose()
