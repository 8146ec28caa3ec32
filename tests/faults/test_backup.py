"""A backup holds all that was acknowledged before it began, is consistent while others write, and shows any damage."""

import random
import threading
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from skillhub import backup as backups
from skillhub.errors import Conflict, Invalid
from skillhub.services import audit, versions
from skillhub.services.scope import Scope
from skillhub.store.session import Database

WRITERS, SEED = 4, 11


def publish(scope: Scope, name: str) -> str:
    document = f"---\nname: {name}\ndescription: About {name}.\n---\n\n# {name}\n"
    return versions.create(scope, name=name, kind="skill", document=document).skill.id


def ids(database: Database) -> set[str]:
    with database.system_transaction() as session:
        return set(session.execute(sa.text("SELECT id FROM skill")).scalars())


def test_all_that_was_acknowledged_before_a_backup_is_restored_whole(
    scope: Scope, database_url: str, empty_url: str, tmp_path: Path
) -> None:
    told, over = [], threading.Event()

    def write(writer: int) -> None:
        number = 0
        while not over.is_set():
            told.append(publish(scope, f"skill-{writer}-{number}"))
            number += 1

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    while len(told) < 40:
        over.wait(0.01)
    before = set(told)
    manifest = backups.backup(database_url, tmp_path / "hub.backup")
    over.set()
    for thread in threads:
        thread.join()
    backups.restore(empty_url, tmp_path / "hub.backup")
    restored = Database(empty_url)
    found = ids(restored)
    lost = before - found
    counted = f"{len(before)} acknowledged before, {len(found)} in the backup, {len(told)} in the end"
    print(f"\n{WRITERS} writers: {counted}, {len(lost)} lost")
    assert (lost, len(found)) == (set(), manifest["rows"]["skill"])
    assert found <= set(told)
    there = Scope(restored, scope.workspace_id, "tester")
    assert audit.verify(there).broken is None
    assert publish(there, "after-the-restore")
    with restored.transaction("wsp_other") as session:
        assert session.execute(sa.text("SELECT count(*) FROM skill")).scalar_one() == 0
    restored.dispose()


def test_damage_is_refused_before_anything_is_written(
    scope: Scope, database_url: str, empty_url: str, tmp_path: Path
) -> None:
    publish(scope, "boil-water")
    whole = tmp_path / "hub.backup"
    backups.backup(database_url, whole)
    content = whole.read_bytes()
    rng = random.Random(SEED)
    damaged = [content[: rng.randrange(len(content))] for _ in range(5)] + [b"", b"nonsense"]
    for _ in range(20):
        flipped = bytearray(content)
        flipped[rng.randrange(len(content) // 8, len(content) * 7 // 8)] ^= 1 << rng.randrange(8)
        damaged.append(bytes(flipped))
    for number, wrong in enumerate(damaged):
        file = tmp_path / f"damaged-{number}"
        file.write_bytes(wrong)
        with pytest.raises(Invalid):
            backups.restore(empty_url, file)
        with psycopg.connect(empty_url) as connection:
            assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()[0] == 0
    print(f"\nseed {SEED}: {len(damaged)} damaged files, {len(damaged)} refused")
    backups.restore(empty_url, whole)


def test_nothing_is_overwritten(scope: Scope, database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "hub.backup"
    backups.backup(database_url, file)
    with pytest.raises(Conflict, match="already"):
        backups.backup(database_url, file)
    with pytest.raises(Conflict, match="not empty"):
        backups.restore(database_url, file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hub.backup"]
