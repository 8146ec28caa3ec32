"""No commit is acknowledged before it is on disk: asserted on every new connection, so also where the database is not ours."""

from psycopg import Connection

from skillhub.errors import Unavailable

_QUERY = """
SELECT name, setting FROM pg_settings
WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes') AND setting NOT IN ('on', 'remote_apply')
"""


class NotDurable(Unavailable):
    """PostgreSQL could acknowledge writes that a crash then loses."""

    code = "not_durable"


def assert_durable(connection: Connection) -> None:
    """NotDurable where this login on this database could lose an acknowledged write."""
    for name, setting in connection.execute(_QUERY).fetchall():
        raise NotDurable(f"PostgreSQL runs with {name}={setting}, which can lose acknowledged writes; set it to on")


def on_connect(connection: Connection, record: object) -> None:
    """For the pool's event `connect`."""
    assert_durable(connection)
    connection.rollback()
