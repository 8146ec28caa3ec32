"""Rows that work goes on from remember the trace that made them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TRACED = ("candidate", "episode", "job")


def upgrade() -> None:
    with op.get_context().autocommit_block():  # one table's lock at a time
        for table in TRACED:
            op.add_column(table, sa.Column("traceparent", sa.String(), nullable=True), if_not_exists=True)


def downgrade() -> None:
    for table in TRACED:
        op.drop_column(table, "traceparent")
