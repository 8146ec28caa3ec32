"""Promise 1: an acknowledged write survives. The full load is 20 seeds, by `SKILLHUB_FAULT_SEEDS=20`."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from skillhub.embedded import Postgres
from skillhub.models import Workspace
from skillhub.processes import Child
from skillhub.services import versions
from skillhub.services.scope import Scope
from skillhub.store import schema
from skillhub.store.session import Database
from tests import chain

SEEDS = int(os.environ.get("SKILLHUB_FAULT_SEEDS", "4"))
WRITERS = 8
WORKSPACE = "wsp_test"


class Writers:
    """Eight threads that publish until the database is gone; `acknowledged` is what they were told is stored."""

    def __init__(self, scope: Scope, *, seed: int, until: int) -> None:
        self.acknowledged: list[str] = []
        self.enough = threading.Event()
        self._scope, self._seed, self._until = scope, seed, until
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int) -> None:
        number = 0
        while True:
            name = f"skill-{self._seed}-{writer}-{number}"
            document = f"---\nname: {name}\ndescription: About {name}.\n---\n\n# {name}\n"
            try:
                versions.create(self._scope, name=name, kind="skill", document=document)
            except DBAPIError:
                return
            self.acknowledged.append(name)
            number += 1
            if len(self.acknowledged) >= self._until:
                self.enough.set()


@contextmanager
def running(server: Postgres) -> Iterator[tuple[Child, Database]]:
    child = server.start()
    url = server.wait(child)
    schema.upgrade(url)
    database = Database(url, pool_size=WRITERS)
    try:
        yield child, database
    finally:
        database.dispose()
        kill_all(child)


def kill_all(child: Child) -> None:
    """SIGKILL to every process of the server at once."""
    with_children = [child.process.pid]
    if child.process.poll() is None:
        with_children += [each.pid for each in psutil.Process(child.process.pid).children(recursive=True)]
    for pid in with_children:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    child.process.wait()


def stored_names(database: Database) -> set[str]:
    with database.system_transaction() as session:
        return set(session.execute(sa.text("SELECT s.name FROM skill s JOIN version v ON v.skill_id = s.id")).scalars())


def test_1_no_acknowledged_write_is_lost_when_all_of_postgresql_is_killed(tmp_path: Path) -> None:
    server = Postgres(tmp_path / "pg", log=tmp_path / "pg.log")
    acknowledged: set[str] = set()
    with running(server) as (_, database), database.system_transaction() as session:
        session.add(Workspace(id=WORKSPACE, name="test"))
    for seed in range(SEEDS):
        with running(server) as (child, database):
            scope = Scope(database, WORKSPACE, "tester")
            writers = Writers(scope, seed=seed, until=random.Random(seed).randint(50, 300))
            writers.start()
            assert writers.enough.wait(60)
            kill_all(child)
            writers.join()
            acknowledged |= set(writers.acknowledged)
    with running(server) as (_, database):
        lost = acknowledged - stored_names(database)
        with database.transaction(WORKSPACE) as session:
            broken = chain.first_broken(session, WORKSPACE)
    server.clean_up()
    print(f"\nkill -9 of all of PostgreSQL, seeds 0..{SEEDS - 1}: {len(acknowledged)} acknowledged, {len(lost)} lost")
    assert (lost, broken) == (set(), None)
