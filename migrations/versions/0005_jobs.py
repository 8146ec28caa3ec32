"""Jobs that wait before they are tried again, remember their attempts and can be started over; schedules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from skillhub.store.tenancy import isolation

revision = "0005"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_attempt",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"]),
        sa.PrimaryKeyConstraint("job_id", "number"),
    )
    op.create_index(op.f("ix_job_attempt_workspace_id"), "job_attempt", ["workspace_id"], unique=False)
    op.create_table(
        "schedule",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("cron", sa.String(), nullable=True),
        sa.Column("every_seconds", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("next_run_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_job_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["last_job_id"], ["job.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("workspace_id", "name"),
    )
    op.create_index(op.f("ix_schedule_next_run_at"), "schedule", ["next_run_at"], unique=False)
    op.create_index(op.f("ix_schedule_workspace_id"), "schedule", ["workspace_id"], unique=False)
    for table in ("job_attempt", "schedule"):
        for statement in isolation(table):
            op.execute(statement)
    # last, as every use case takes its locks: the workspace before the job
    op.add_column("job", sa.Column("run_after", sa.DateTime(timezone=True), nullable=True))
    op.add_column("job", sa.Column("forgiven", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    for table in ("schedule", "job_attempt"):
        op.drop_table(table)
    for column in ("forgiven", "run_after"):
        op.drop_column("job", column)
