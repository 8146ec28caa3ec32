"""Promise 11: tampering with the log shows."""

import subprocess
import sys

import pytest
import sqlalchemy as sa

from skillhub.services.scope import Scope
from tests import chain
from tests.conftest import ROOT

PROCESSES, EACH = 6, 40

APPEND = """
import sys
from skillhub.services.scope import Scope
from skillhub.store.session import Database
scope = Scope(Database(sys.argv[1]), "wsp_test", sys.argv[2])
for number in range(int(sys.argv[3])):
    with scope.transaction() as unit:
        unit.record("thing.made", f"{sys.argv[2]}-{number}", number=number)
"""

TAMPERING = {
    "edited": ("UPDATE event SET payload = '{\"number\": 7}' WHERE seq = 17", 17),
    "time edited": ("UPDATE event SET created_at = created_at + interval '1 second' WHERE seq = 3", 3),
    "deleted": ("DELETE FROM event WHERE seq = 20", 21),
    "first deleted": ("DELETE FROM event WHERE seq = 1", 2),
    "reordered": ("UPDATE event SET seq = CASE seq WHEN 30 THEN -31 WHEN 31 THEN -30 END WHERE seq IN (30, 31);"
                  "UPDATE event SET seq = -seq WHERE seq < 0", 30),
}  # fmt: skip


def tamper(scope: Scope, statements: str) -> None:
    """As the owner of the database, with the trigger off."""
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("ALTER TABLE event DISABLE TRIGGER immutable"))
        for statement in statements.split(";"):
            owner.execute(sa.text(statement))
        owner.execute(sa.text("ALTER TABLE event ENABLE TRIGGER immutable"))


def first_broken(scope: Scope) -> int | None:
    with scope.transaction() as unit:
        return chain.first_broken(unit.session, scope.workspace_id)


def test_11_processes_that_append_at_once_make_one_chain(scope: Scope, database_url: str) -> None:
    command = [sys.executable, "-c", APPEND, database_url]
    running = [
        subprocess.Popen([*command, f"process-{number}", str(EACH)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
        for number in range(PROCESSES)
    ]
    assert [process.wait(60) for process in running] == [0] * PROCESSES
    with scope.transaction() as unit:
        chain = unit.session.execute(sa.text("SELECT seq, prev_sha256 FROM event ORDER BY seq")).all()
    seqs, parents = zip(*chain, strict=True)
    forks = len(parents) - len(set(parents))
    print(f"\n{PROCESSES} processes x {EACH} appends: {len(seqs)} events, {forks} forks, first broken {first_broken(scope)}")
    assert seqs == tuple(range(1, PROCESSES * EACH + 1))
    assert (forks, first_broken(scope)) == (0, None)


@pytest.mark.parametrize("how", TAMPERING)
def test_11_the_first_row_that_was_tampered_with_is_named(scope: Scope, how: str) -> None:
    for number in range(EACH):
        with scope.transaction() as unit:
            unit.record("thing.made", f"thing-{number}", number=number)
    assert first_broken(scope) is None
    statements, expected = TAMPERING[how]
    tamper(scope, statements)
    print(f"\n{how}: first broken row {first_broken(scope)}")
    assert first_broken(scope) == expected
