"""The database and its transactions. Every transaction runs under a role that owns nothing and sees one workspace."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.event import listen
from sqlmodel import Session

from skillhub.store import durability

APP_ROLE = "skillhub_app"
"""Sees the rows of one workspace (row-level security)."""
SYSTEM_ROLE = "skillhub_system"
"""Sees all workspaces: key lookup, sweeper, index."""


class Database:
    """A PostgreSQL database reached through a pool of psycopg connections.

    `url` is `postgresql://...`. The login must be a member of both roles (the migration grants them to its own login).
    """

    def __init__(self, url: str, *, pool_size: int = 10) -> None:
        self.url = url
        self.engine: Engine = create_engine(
            sqlalchemy_url(url), pool_size=pool_size, max_overflow=pool_size, pool_pre_ping=True
        )
        listen(self.engine, "connect", durability.on_connect)

    @contextmanager
    def transaction(self, workspace_id: str) -> Iterator[Session]:
        """One transaction that reads and writes only rows of `workspace_id`; commits on leaving, rolls back on error."""
        with self._session(APP_ROLE) as session:
            session.execute(text("SELECT set_config('skillhub.workspace', :id, true)"), {"id": workspace_id})
            yield session

    @contextmanager
    def system_transaction(self) -> Iterator[Session]:
        """One transaction over all workspaces, for what happens before a tenant is known."""
        with self._session(SYSTEM_ROLE) as session:
            yield session

    @contextmanager
    def _session(self, role: str) -> Iterator[Session]:
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            session.execute(text(f"SET LOCAL ROLE {role}"))
            yield session

    def ping(self) -> None:
        """Nothing, where the database answers and is durable; works without a schema."""
        with self.engine.connect() as connection:
            durability.assert_durable(connection.connection.driver_connection)

    @property
    def connections(self) -> int:
        """Connections of the pool that are in use now."""
        return self.engine.pool.checkedout()

    def dispose(self) -> None:
        self.engine.dispose()


def sqlalchemy_url(url: str) -> str:
    """The same URL with psycopg 3 named as the driver."""
    return url.replace("postgresql://", "postgresql+psycopg://", 1)
