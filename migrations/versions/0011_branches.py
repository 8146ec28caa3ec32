"""Branches: named lines of candidates. And an index for what happened to one thing, which the history of a label reads."""

import sqlalchemy as sa
from alembic import op

from skillhub.store.tenancy import isolation

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ON_A_BRANCH = {"branch_id": "branch", "previous_id": "candidate"}


def upgrade() -> None:
    op.create_table(
        "branch",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("skill_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("base_version_id", sa.String(), nullable=False),
        sa.Column("head_id", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["skill_id"], ["skill.id"]),
        sa.ForeignKeyConstraint(["base_version_id"], ["version.id"]),
        sa.ForeignKeyConstraint(["head_id"], ["candidate.id"], name="branch_head_id_fkey"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("skill_id", "name"),
    )
    op.create_index("ix_branch_workspace_id", "branch", ["workspace_id"])
    op.create_index("ix_branch_listed", "branch", ["skill_id", "id"])
    for statement in isolation("branch"):
        op.execute(statement)
    with op.get_context().autocommit_block():  # one table's lock at a time
        for column in ON_A_BRANCH:
            op.add_column("candidate", sa.Column(column, sa.String(), nullable=True), if_not_exists=True)
        for column, table in ON_A_BRANCH.items():
            name = f"candidate_{column}_fkey"
            op.execute(f"ALTER TABLE candidate DROP CONSTRAINT IF EXISTS {name}")
            op.create_foreign_key(name, "candidate", table, [column], ["id"], postgresql_not_valid=True)
            op.execute(f"ALTER TABLE candidate VALIDATE CONSTRAINT {name}")
            op.create_index(
                f"ix_candidate_{column}", "candidate", [column], if_not_exists=True, postgresql_concurrently=True
            )
        op.create_index(
            "ix_event_subject", "event", ["workspace_id", "subject_id", "seq"], if_not_exists=True, postgresql_concurrently=True
        )


def downgrade() -> None:
    op.drop_index("ix_event_subject", table_name="event")
    for column in ON_A_BRANCH:
        op.drop_column("candidate", column)
    op.drop_table("branch")
