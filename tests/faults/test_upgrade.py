"""Promise 12: an upgrade needs no outage. From each earlier schema with data, while statements of the first release go on."""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from alembic import command

from skillhub.errors import Unavailable
from skillhub.store import schema

FIRST_RELEASE = [
    "INSERT INTO workspace (id, name, created_at) VALUES ('wsp_' || %(id)s, %(id)s, now())",
    "INSERT INTO api_key (id, workspace_id, name, prefix, key_hmac, role, created_at) "
    "VALUES ('key_' || %(id)s, 'wsp_' || %(id)s, 'k', 'shk_', %(id)s, 'admin', now())",
    "INSERT INTO skill (id, workspace_id, name, kind, state, last_number, created_at) "
    "VALUES ('skl_' || %(id)s, 'wsp_' || %(id)s, 's', 'skill', 'published', 1, now())",
    "INSERT INTO version (id, workspace_id, skill_id, number, content_sha256, document, description, message, created_by, "
    "created_at) VALUES ('ver_' || %(id)s, 'wsp_' || %(id)s, 'skl_' || %(id)s, 1, '', '', '', '', 'me', now())",
    "INSERT INTO label (skill_id, name, workspace_id, version_id, revision, moved_at) "
    "VALUES ('skl_' || %(id)s, 'latest', 'wsp_' || %(id)s, 'ver_' || %(id)s, 1, now())",
    "INSERT INTO event (workspace_id, seq, kind, subject_id, payload, actor, created_at, prev_sha256, sha256) "
    "VALUES ('wsp_' || %(id)s, 1, 'x.made', 'x', '{}', 'me', now(), '', '')",
    "INSERT INTO job (id, workspace_id, kind, payload, state, attempt, announced_at, progress, log, created_at) "
    "VALUES ('job_' || %(id)s, 'wsp_' || %(id)s, 'k', '{}', 'queued', 0, now(), 0, '', now())",
    "UPDATE job SET state = 'running', attempt = attempt + 1, lease_expires_at = now() WHERE id = 'job_' || %(id)s",
    "UPDATE label SET revision = revision + 1 WHERE skill_id = 'skl_' || %(id)s",
    "SELECT s.name, v.number FROM skill s JOIN version v ON v.skill_id = s.id WHERE s.workspace_id = 'wsp_' || %(id)s",
]
"""What the first release writes and reads, with the columns that it knows."""
EARLIER = schema.revisions()[:-1]


class OldCode:
    """Writers and readers of the first release; `done` counts their rounds, `errors` what went wrong."""

    def __init__(self, url: str, *, threads: int = 3) -> None:
        self.done: Counter = Counter()
        self.errors: list[Exception] = []
        self.slowest = 0.0
        self._url = url
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(threads)]

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in self._threads:
                thread.join()

    def _work(self, number: int) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._over.is_set():
                began = time.monotonic()
                try:
                    round_of_the_first_release(connection)
                except psycopg.Error as error:
                    self.errors.append(error)
                    return
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.done[number] += 1


def round_of_the_first_release(connection: psycopg.Connection) -> None:
    names = {"id": uuid.uuid4().hex}
    with connection.transaction():
        for statement in FIRST_RELEASE:
            connection.execute(statement, names)


def count(url: str) -> int:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*) FROM version").fetchone()[0]


@pytest.mark.parametrize("revision", EARLIER)
def test_12_from_each_earlier_schema_while_the_first_release_goes_on(empty_url: str, revision: str) -> None:
    schema.upgrade(empty_url, revision=revision)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        for _ in range(20):
            round_of_the_first_release(connection)
    old = OldCode(empty_url)
    with old.running():
        schema.upgrade(empty_url)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        round_of_the_first_release(connection)
    rounds = old.done.total()
    print(f"\n{revision} -> {schema.head()}: {rounds} rounds of old statements meanwhile, {len(old.errors)} errors, "
          f"slowest {old.slowest:.2f} s")  # fmt: skip
    assert old.errors == []
    assert (schema.current(empty_url), count(empty_url)) == (schema.head(), 20 + rounds + 1)
    config = schema._config()
    config.attributes["url"] = empty_url
    command.check(config)


def test_12_a_table_that_is_kept_locked_ends_the_upgrade_in_bounded_time_with_a_clear_message(empty_url: str) -> None:
    schema.upgrade(empty_url, revision=EARLIER[0])
    with psycopg.connect(empty_url) as holder:
        holder.execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        with pytest.raises(Unavailable, match="kept locked by another session"):
            schema.upgrade(empty_url, lock_seconds=1)
        print(f"\na held lock: refused after {time.monotonic() - began:.1f} s with 1 s allowed")
    schema.upgrade(empty_url)
    assert schema.current(empty_url) == schema.head()
