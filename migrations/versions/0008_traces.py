"""Rows that work goes on from remember the trace that made them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TRACED = ("candidate", "episode", "job")


def upgrade() -> None:
    for table in TRACED:
        op.add_column(table, sa.Column("traceparent", sa.String(), nullable=True))


def downgrade() -> None:
    for table in TRACED:
        op.drop_column(table, "traceparent")
