"""An index less: the unique one over workspace and name serves every read of a workspace's skills, and does so in order.

With both there, a planner without statistics took the other one and read all skills to find some by name.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.drop_index("ix_skill_workspace_id", table_name="skill", if_exists=True, postgresql_concurrently=True)


def downgrade() -> None:
    op.create_index("ix_skill_workspace_id", "skill", ["workspace_id"])
