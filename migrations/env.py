"""Runs migrations against the URL in `attributes["url"]` (set by `skillhub migrate`) or `SKILLHUB_DATABASE_URL`."""

from alembic import context
from sqlalchemy import NullPool, create_engine, text
from sqlmodel import SQLModel

import skillhub.models  # noqa: F401  (fills the metadata)
from skillhub.config import Settings
from skillhub.store.session import sqlalchemy_url

LOCK = 0x536B696C6C  # one migration at a time
LOCK_MILLISECONDS = 500  # others queue behind a lock that is waited for; and PostgreSQL looks for deadlocks after 1,000


def run() -> None:
    url = context.config.attributes.get("url") or Settings().database_url
    engine = create_engine(sqlalchemy_url(url), poolclass=NullPool)  # a failed step must not keep the lock
    with engine.connect() as connection:
        connection.execute(text(f"SELECT pg_advisory_lock({LOCK})"))
        connection.execute(text(f"SET lock_timeout = '{LOCK_MILLISECONDS}ms'"))
        connection.commit()
        context.configure(
            connection=connection, target_metadata=SQLModel.metadata, compare_type=True, transaction_per_migration=True
        )
        with context.begin_transaction():
            context.run_migrations()


run()
