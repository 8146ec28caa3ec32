"""Runs migrations against the URL in `attributes["url"]` (set by `skillhub migrate`) or `SKILLHUB_DATABASE_URL`."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlmodel import SQLModel

import skillhub.models  # noqa: F401  (fills the metadata)
from skillhub.config import Settings
from skillhub.store.session import sqlalchemy_url

LOCK = 0x536B696C6C  # one migration at a time


def run() -> None:
    url = context.config.attributes.get("url") or Settings().database_url
    engine = create_engine(sqlalchemy_url(url))
    with engine.connect() as connection:
        context.configure(connection=connection, target_metadata=SQLModel.metadata, compare_type=True)
        with context.begin_transaction():
            connection.execute(text("SET LOCAL lock_timeout = '10s'"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
            context.run_migrations()
    engine.dispose()


run()
