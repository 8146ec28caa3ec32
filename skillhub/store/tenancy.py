"""Row-level security as SQL, for the migrations that make tables."""

POLICY = """
CREATE POLICY tenant ON "{table}"
USING (workspace_id = nullif(current_setting('skillhub.workspace', true), ''))
WITH CHECK (workspace_id = nullif(current_setting('skillhub.workspace', true), ''))
"""


def isolation(table: str) -> list[str]:
    """Statements after which the application's role sees only rows of its own workspace in `table`, a new table of tenants."""
    return [
        f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
        f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY',
        POLICY.format(table=table),
    ]
