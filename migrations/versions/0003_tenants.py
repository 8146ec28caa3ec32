"""Keys with expiry, limits and last use."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_key", sa.Column("limits", postgresql.JSONB(astext_type=sa.Text()), nullable=False, server_default="{}"))
    op.add_column("api_key", sa.Column("created_by", sa.String(), nullable=False, server_default="system"))
    op.add_column("api_key", sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("api_key", sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    for column in ("last_used_at", "expires_at", "created_by", "limits"):
        op.drop_column("api_key", column)
