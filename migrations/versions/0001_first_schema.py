"""First schema: all tables of the circle, row-level security, immutable versions, append-only events."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROLES = ("skillhub_app", "skillhub_system")

CREATE_ROLE = """
DO $$ BEGIN
  CREATE ROLE {role} NOLOGIN {bypass};
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

TENANT_POLICY = """
CREATE POLICY tenant ON {table}
USING ({column} = nullif(current_setting('skillhub.workspace', true), ''))
WITH CHECK ({column} = nullif(current_setting('skillhub.workspace', true), ''))
"""

REFUSE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is immutable', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$
"""

IMMUTABLE = ("version", "version_file", "version_parent", "event")


def create_roles() -> None:
    for role in ROLES:
        op.execute(CREATE_ROLE.format(role=role, bypass="BYPASSRLS" if role == "skillhub_system" else "NOBYPASSRLS"))
        op.execute(f"GRANT {role} TO CURRENT_USER")
        op.execute(f"GRANT USAGE ON SCHEMA public TO {role}")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
        op.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}")


def isolate_tenants() -> None:
    for table, column in tenant_columns():
        op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
        op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
        op.execute(TENANT_POLICY.format(table=f'"{table}"', column=column))


def tenant_columns() -> list[tuple[str, str]]:
    rows = op.get_bind().execute(
        sa.text(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'workspace_id'"
        )
    )
    return [("workspace", "id"), *((row.table_name, "workspace_id") for row in rows)]


def make_immutable() -> None:
    op.execute(REFUSE)
    for table in IMMUTABLE:
        op.execute(
            f"CREATE TRIGGER immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.create_table(
        "workspace",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("key_hmac", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key_hmac"),
    )
    op.create_index(op.f("ix_api_key_workspace_id"), "api_key", ["workspace_id"], unique=False)
    op.create_table(
        "context",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("token_budget", sa.Integer(), nullable=False),
        sa.Column("entries", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("text_sha256", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_context_workspace_id"), "context", ["workspace_id"], unique=False)
    op.create_table(
        "event",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject_id", sa.String(), nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("prev_sha256", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "seq"),
    )
    op.create_table(
        "idempotency_record",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "key"),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("announced_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("log", sa.String(), nullable=False),
        sa.Column("result", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_job_state"), "job", ["state"], unique=False)
    op.create_index(op.f("ix_job_workspace_id"), "job", ["workspace_id"], unique=False)
    op.create_table(
        "skill",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("workspace_id", "name"),
    )
    op.create_index(op.f("ix_skill_workspace_id"), "skill", ["workspace_id"], unique=False)
    op.create_table(
        "suite",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("workspace_id", "name"),
    )
    op.create_index(op.f("ix_suite_workspace_id"), "suite", ["workspace_id"], unique=False)
    op.create_table(
        "case",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("suite_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("split", sa.String(), nullable=False),
        sa.Column("slice", sa.String(), nullable=False),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["suite_id"],
            ["suite.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("suite_id", "key"),
    )
    op.create_index(op.f("ix_case_suite_id"), "case", ["suite_id"], unique=False)
    op.create_index(op.f("ix_case_workspace_id"), "case", ["workspace_id"], unique=False)
    op.create_table(
        "episode",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("slice", sa.String(), nullable=False),
        sa.Column("split", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("context_id", sa.String(), nullable=True),
        sa.Column("trial_id", sa.String(), nullable=True),
        sa.Column("attributes", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["context_id"],
            ["context.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("workspace_id", "key"),
    )
    op.create_index(op.f("ix_episode_context_id"), "episode", ["context_id"], unique=False)
    op.create_index(op.f("ix_episode_slice"), "episode", ["slice"], unique=False)
    op.create_index(op.f("ix_episode_trial_id"), "episode", ["trial_id"], unique=False)
    op.create_index(op.f("ix_episode_workspace_id"), "episode", ["workspace_id"], unique=False)
    op.create_table(
        "version",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("skill_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["candidate_id"], ["candidate.id"], name="version_candidate_id_fkey", use_alter=True),
        sa.ForeignKeyConstraint(
            ["skill_id"],
            ["skill.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("skill_id", "number"),
    )
    op.create_index(op.f("ix_version_candidate_id"), "version", ["candidate_id"], unique=False)
    op.create_index(op.f("ix_version_content_sha256"), "version", ["content_sha256"], unique=False)
    op.create_index(op.f("ix_version_skill_id"), "version", ["skill_id"], unique=False)
    op.create_index(op.f("ix_version_workspace_id"), "version", ["workspace_id"], unique=False)
    op.create_table(
        "candidate",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("skill_name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("base_version_id", sa.String(), nullable=True),
        sa.Column("operations", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("proposer", sa.String(), nullable=False),
        sa.Column("rationale", sa.String(), nullable=False),
        sa.Column("target_slice", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["base_version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_candidate_skill_name"), "candidate", ["skill_name"], unique=False)
    op.create_index(op.f("ix_candidate_state"), "candidate", ["state"], unique=False)
    op.create_index(op.f("ix_candidate_workspace_id"), "candidate", ["workspace_id"], unique=False)
    op.create_table(
        "embedding",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("model_fingerprint", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("vector", Vector(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("version_id", "model_fingerprint"),
    )
    op.create_index(op.f("ix_embedding_workspace_id"), "embedding", ["workspace_id"], unique=False)
    op.create_table(
        "label",
        sa.Column("skill_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["skill_id"],
            ["skill.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("skill_id", "name"),
    )
    op.create_index(op.f("ix_label_version_id"), "label", ["version_id"], unique=False)
    op.create_index(op.f("ix_label_workspace_id"), "label", ["workspace_id"], unique=False)
    op.create_table(
        "step",
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("observation", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("reward", sa.Float(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["episode_id"],
            ["episode.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("episode_id", "index"),
    )
    op.create_index(op.f("ix_step_workspace_id"), "step", ["workspace_id"], unique=False)
    op.create_table(
        "version_file",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("mode", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("version_id", "path"),
    )
    op.create_index(op.f("ix_version_file_workspace_id"), "version_file", ["workspace_id"], unique=False)
    op.create_table(
        "version_parent",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("parent_id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("relation", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("version_id", "parent_id"),
    )
    op.create_index(op.f("ix_version_parent_parent_id"), "version_parent", ["parent_id"], unique=False)
    op.create_index(op.f("ix_version_parent_workspace_id"), "version_parent", ["workspace_id"], unique=False)
    op.create_table(
        "evidence",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("anchor", sa.String(), nullable=False),
        sa.Column("claim", sa.String(), nullable=False),
        sa.Column("polarity", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["candidate_id"],
            ["candidate.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_evidence_candidate_id"), "evidence", ["candidate_id"], unique=False)
    op.create_index(op.f("ix_evidence_workspace_id"), "evidence", ["workspace_id"], unique=False)
    op.create_table(
        "exposure",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=True),
        sa.Column("candidate_id", sa.String(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("from_step", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["candidate_id"],
            ["candidate.id"],
        ),
        sa.ForeignKeyConstraint(
            ["episode_id"],
            ["episode.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_exposure_candidate_id"), "exposure", ["candidate_id"], unique=False)
    op.create_index(op.f("ix_exposure_episode_id"), "exposure", ["episode_id"], unique=False)
    op.create_index(op.f("ix_exposure_version_id"), "exposure", ["version_id"], unique=False)
    op.create_index(op.f("ix_exposure_workspace_id"), "exposure", ["workspace_id"], unique=False)
    op.create_table(
        "gate",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("suite_id", sa.String(), nullable=False),
        sa.Column("target_slice", sa.String(), nullable=False),
        sa.Column("protected_slices", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("base_version_id", sa.String(), nullable=True),
        sa.Column("base_sha256", sa.String(), nullable=False),
        sa.Column("companions", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("candidate_sha256", sa.String(), nullable=False),
        sa.Column("suite_sha256", sa.String(), nullable=False),
        sa.Column("stream_index", sa.Integer(), nullable=False),
        sa.Column("alpha", sa.Float(), nullable=False),
        sa.Column("policy", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("plan", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["base_version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["candidate_id"],
            ["candidate.id"],
        ),
        sa.ForeignKeyConstraint(
            ["suite_id"],
            ["suite.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("candidate_id"),
    )
    op.create_index(op.f("ix_gate_state"), "gate", ["state"], unique=False)
    op.create_index(op.f("ix_gate_suite_id"), "gate", ["suite_id"], unique=False)
    op.create_index(op.f("ix_gate_workspace_id"), "gate", ["workspace_id"], unique=False)
    op.create_table(
        "decision",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("gate_id", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("numbers", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("version_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["candidate_id"],
            ["candidate.id"],
        ),
        sa.ForeignKeyConstraint(
            ["gate_id"],
            ["gate.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("candidate_id"),
        sa.UniqueConstraint("gate_id"),
    )
    op.create_index(op.f("ix_decision_workspace_id"), "decision", ["workspace_id"], unique=False)
    op.create_table(
        "evidence_episode",
        sa.Column("evidence_id", sa.String(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["episode_id"],
            ["episode.id"],
        ),
        sa.ForeignKeyConstraint(
            ["evidence_id"],
            ["evidence.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("evidence_id", "episode_id"),
    )
    op.create_index(op.f("ix_evidence_episode_episode_id"), "evidence_episode", ["episode_id"], unique=False)
    op.create_index(op.f("ix_evidence_episode_workspace_id"), "evidence_episode", ["workspace_id"], unique=False)
    op.create_table(
        "trial",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("gate_id", sa.String(), nullable=False),
        sa.Column("case_id", sa.String(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
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
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["case.id"],
        ),
        sa.ForeignKeyConstraint(
            ["episode_id"],
            ["episode.id"],
        ),
        sa.ForeignKeyConstraint(
            ["gate_id"],
            ["gate.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspace.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("gate_id", "pair", "arm"),
    )
    op.create_index(op.f("ix_trial_gate_id"), "trial", ["gate_id"], unique=False)
    op.create_index(op.f("ix_trial_state"), "trial", ["state"], unique=False)
    op.create_index(op.f("ix_trial_workspace_id"), "trial", ["workspace_id"], unique=False)
    op.create_foreign_key("version_candidate_id_fkey", "version", "candidate", ["candidate_id"], ["id"])
    create_roles()
    isolate_tenants()
    make_immutable()


def downgrade() -> None:
    raise RuntimeError("the first schema has nothing before it: drop the database instead")
