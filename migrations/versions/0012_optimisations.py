"""Searches for better versions: their journal, their drafts and their screening trials."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from skillhub.store.tenancy import isolation

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TABLES = ("optimisation", "optimisation_step", "optimisation_draft", "screening_trial")
JSONB = postgresql.JSONB(astext_type=sa.Text())


def upgrade() -> None:
    op.create_table(
        "optimisation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("skill_id", sa.String(), nullable=False),
        sa.Column("suite_id", sa.String(), nullable=False),
        sa.Column("base_version_id", sa.String(), nullable=False),
        sa.Column("start_document", sa.String(), nullable=False),
        sa.Column("cases", JSONB, nullable=False),
        sa.Column("proposer", sa.String(), nullable=False),
        sa.Column("budget", sa.Integer(), nullable=False),
        sa.Column("spent", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("policy", JSONB, nullable=False),
        sa.Column("gate_policy", JSONB, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("traceparent", sa.String(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["skill_id"], ["skill.id"]),
        sa.ForeignKeyConstraint(["suite_id"], ["suite.id"]),
        sa.ForeignKeyConstraint(["base_version_id"], ["version.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    for column in ("workspace_id", "skill_id", "suite_id", "state"):
        op.create_index(f"ix_optimisation_{column}", "optimisation", [column])
    op.create_index("ix_optimisation_listed", "optimisation", ["workspace_id", "id"])
    op.create_table(
        "optimisation_step",
        sa.Column("optimisation_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("ask", JSONB, nullable=False),
        sa.Column("answer", JSONB, nullable=True),
        sa.Column("candidate_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["optimisation_id"], ["optimisation.id"]),
        sa.ForeignKeyConstraint(["candidate_id"], ["candidate.id"]),
        sa.PrimaryKeyConstraint("optimisation_id", "position"),
    )
    op.create_index("ix_optimisation_step_workspace_id", "optimisation_step", ["workspace_id"])
    op.create_index("ix_optimisation_step_candidate_id", "optimisation_step", ["candidate_id"])
    op.create_table(
        "optimisation_draft",
        sa.Column("optimisation_id", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["optimisation_id"], ["optimisation.id"]),
        sa.PrimaryKeyConstraint("optimisation_id", "sha256"),
    )
    op.create_index("ix_optimisation_draft_workspace_id", "optimisation_draft", ["workspace_id"])
    op.create_table(
        "screening_trial",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("optimisation_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("case_id", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("lease_token", sa.String(), nullable=True),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("runner", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("episode_id", sa.String(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"]),
        sa.ForeignKeyConstraint(["optimisation_id"], ["optimisation.id"]),
        sa.ForeignKeyConstraint(["case_id"], ["case.id"]),
        sa.ForeignKeyConstraint(["episode_id"], ["episode.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_screening_trial_workspace_id", "screening_trial", ["workspace_id"])
    op.create_index("ix_screening_trial_state", "screening_trial", ["state"])
    op.create_index("ix_screening_trial_step", "screening_trial", ["optimisation_id", "position"])
    for table in TABLES:
        for statement in isolation(table):
            op.execute(statement)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
