"""Promise 1: an acknowledged write survives a kill -9 of all of PostgreSQL.

`SKILLHUB_FAULT_SEEDS=20 pytest -n 0 -s tests/faults/test_database_kill.py` is the full load; by default fewer seeds.
"""

import os
import random
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from skillhub.embedded import Postgres
from skillhub.models import Workspace
from skillhub.processes import Child, stop
from skillhub.services import versions
from skillhub.services.scope import Scope
from skillhub.store import events, schema
from skillhub.store.session import Database
from tests.faults.conftest import until

SEEDS = range(int(os.environ.get("SKILLHUB_FAULT_SEEDS", "3")))
WRITERS = 8
FEWEST_WRITES = 40
DOCUMENT = "---\nname: {name}\ndescription: How to do it.\n---\n\n# It\n\n1. Step {number}.\n"


class Cluster:
    """A PostgreSQL of our own, to be killed."""

    def __init__(self, folder: Path) -> None:
        self.postgres = Postgres(folder / "postgres", log=folder / "postgres.log")
        self.child: Child | None = None

    def start(self) -> str:
        self.child = self.postgres.start()
        return self.postgres.wait(self.child)

    def kill(self) -> int:
        """SIGKILL to the server and every process of it; returns how many."""
        server = psutil.Process(self.child.process.pid)
        server.suspend()  # it starts no new process meanwhile
        all_of_it = [*server.children(recursive=True), server]
        for process in all_of_it:
            process.kill()
        self.child.process.wait()
        psutil.wait_procs(all_of_it, timeout=30)
        return len(all_of_it)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    yield cluster
    stop([cluster.child.record])
    cluster.postgres.clean_up()


class Writer(threading.Thread):
    """Publishes one version after the other of its own skill, and notes which were acknowledged."""

    def __init__(self, scope: Scope, name: str) -> None:
        super().__init__()
        self.scope = scope
        self.name = name
        self.acknowledged = 0

    def run(self) -> None:
        try:
            while True:
                with self.scope.transaction() as unit:
                    document = DOCUMENT.format(name=self.name, number=self.acknowledged + 1)
                    versions.publish_in(unit, name=self.name, kind="skill", document=document)
                    unit.enqueue("note", writer=self.name)
                self.acknowledged += 1
        except SQLAlchemyError:
            return


def stored(scope: Scope, name: str) -> int:
    """Number of the newest version; all numbers up to it are there."""
    with scope.transaction() as unit:
        rows = sa.text("SELECT count(*), max(number) FROM version JOIN skill ON skill.id = skill_id WHERE skill.name = :name")
        found, newest = unit.session.execute(rows, {"name": name}).one()
        assert found == (newest or 0)
        return found


def test_no_acknowledged_write_is_lost_when_postgresql_is_killed(cluster: Cluster) -> None:
    url = cluster.start()
    schema.upgrade(url)
    acknowledged = lost = unknown = killed = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        database = Database(url)
        workspace = f"wsp_{uuid.UUID(int=chance.getrandbits(128)).hex}"
        with database.system_transaction() as session:
            session.add(Workspace(id=workspace, name=workspace))
        scope = Scope(database, workspace, "tester")
        writers = [Writer(scope, f"skill-{number}") for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        enough = chance.randint(FEWEST_WRITES, 4 * FEWEST_WRITES)
        until(lambda writers=writers, enough=enough: sum(w.acknowledged for w in writers) >= enough, why="they write")
        killed += cluster.kill()
        for writer in writers:
            writer.join()
        database.dispose()
        url = cluster.start()
        kept = {writer.name: stored(scope, writer.name) for writer in writers}
        acknowledged += sum(writer.acknowledged for writer in writers)
        lost += sum(max(0, writer.acknowledged - kept[writer.name]) for writer in writers)
        unknown += sum(max(0, kept[writer.name] - writer.acknowledged) for writer in writers)
        with scope.transaction() as unit:
            assert events.first_broken(unit.session, workspace) is None
        database.dispose()
    print(f"\nkill -9 of PostgreSQL, seeds 0 to {SEEDS[-1]}, {WRITERS} writers: {killed} processes killed, "
          f"{acknowledged} writes acknowledged, {lost} lost, {unknown} committed without an answer")  # fmt: skip
    assert lost == 0
    assert acknowledged >= FEWEST_WRITES * len(SEEDS)
