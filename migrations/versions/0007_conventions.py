"""Indexes of the orders that lists offer, and of what the sweeper purges."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

LISTED = ("candidate", "context", "decision", "episode", "gate", "job", "skill")


def upgrade() -> None:
    with op.get_context().autocommit_block():
        for table in LISTED:
            _create_index(f"ix_{table}_listed", table, ["workspace_id", "id"])
        _create_index("ix_episode_by_score", "episode", ["workspace_id", "score", "id"])
        _create_index("ix_idempotency_record_created_at", "idempotency_record", ["created_at"])


def _create_index(name: str, table: str, columns: list[str]) -> None:
    """While others write."""
    op.create_index(name, table, columns, postgresql_concurrently=True, if_not_exists=True)


def downgrade() -> None:
    op.drop_index("ix_idempotency_record_created_at", "idempotency_record")
    op.drop_index("ix_episode_by_score", "episode")
    for table in LISTED:
        op.drop_index(f"ix_{table}_listed", table)
