"""Versions that are held back."""

import sqlalchemy as sa
from alembic import op

from skillhub.store.tenancy import isolation

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quarantine",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("held_by", sa.String(), nullable=False),
        sa.Column("held_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"]),
        sa.PrimaryKeyConstraint("version_id"),
    )
    op.create_index("ix_quarantine_workspace_id", "quarantine", ["workspace_id"])
    for statement in isolation("quarantine"):
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("quarantine")
