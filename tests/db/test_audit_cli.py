"""`skillhub audit`, `workspace` and `key` against a real database."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import Result
from typer.testing import CliRunner

from skillhub.cli import app
from skillhub.models.base import now
from skillhub.services import keys
from skillhub.store.session import Database

SECRET = "a-secret-of-the-tests"


@pytest.fixture
def run(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SKILLHUB_DATABASE_URL", database_url)
    monkeypatch.setenv("SKILLHUB_SECRET", SECRET)
    monkeypatch.setenv("SKILLHUB_DATA_DIR", str(tmp_path))

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    return run


def test_an_operator_makes_a_workspace_and_keys_with_roles_and_an_end(run, database: Database) -> None:
    assert run("workspace", "create", "team").exit_code == 0
    assert run("workspace", "list").output.endswith("  team\n")
    key = run("key", "trainer", "--workspace", "team", "--role", "record", "--days", "2").output.strip()
    row = keys.authenticate(database, key=key, secret=SECRET)
    assert (row.role, row.name, 1 <= (row.expires_at - now()).days <= 2) == ("record", "trainer", True)
    refused = run("key", "x", "--workspace", "team", "--role", "god")
    assert (refused.exit_code, "is not a role" in refused.output) == (1, True)


def test_the_log_is_verified_exported_and_checked(run, database: Database, tmp_path: Path) -> None:
    run("key", "me", "--workspace", "team")
    assert run("audit", "verify", "--workspace", "team").output == "1 events, whole\n"
    head = tmp_path / "head.json"
    head.write_text(run("audit", "head", "--workspace", "team").output)
    assert json.loads(head.read_text())["seq"] == 1
    assert run("audit", "check", str(head), "--workspace", "team").output == "the log is as it was up to event 1\n"
    with database.engine.begin() as owner:
        owner.execute(sa.text("ALTER TABLE event DISABLE TRIGGER immutable"))
        owner.execute(sa.text("UPDATE event SET actor = 'someone-else'"))
    for command in (["verify"], ["check", str(head)]):
        found = run("audit", *command, "--workspace", "team")
        assert (found.exit_code, "event 1 was edited" in found.output) == (1, True)


def test_what_is_no_head_and_no_workspace_is_said(run, tmp_path: Path) -> None:
    run("key", "me", "--workspace", "team")
    file = tmp_path / "nonsense.json"
    file.write_text('{"seq": "x"}')
    asked = {"no workspace": ["verify", "--workspace", "nobody"], "is not a head": ["check", str(file), "--workspace", "team"]}
    for said, arguments in asked.items():
        found = run("audit", *arguments)
        assert (found.exit_code, said in found.output) == (1, True)
