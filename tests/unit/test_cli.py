"""The command as a person meets it: quick help, plain errors."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import psycopg
import pytest
from typer.testing import CliRunner, Result

import demo
from skillhub.cli import app, circle
from skillhub.stack import Stack

HEAVY = {"torch", "faiss", "celery", "sqlalchemy", "fastapi", "uvicorn", "httpx"}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder of its own, and no hub named by the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("URL", "API_KEY", "DATABASE_URL", "BROKER_URL", "SECRET", "DATA_DIR"):
        monkeypatch.delenv(f"SKILLHUB_{name}", raising=False)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def assert_plain_error(result: Result, text: str) -> None:
    assert result.exit_code == 1
    assert text in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_help_imports_nothing_heavy() -> None:
    code = f"import sys, skillhub.cli; print(sorted({HEAVY!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_every_command_has_help() -> None:
    commands = [info.name or info.callback.__name__ for info in app.registered_commands]
    assert set(commands) >= {"up", "serve", "worker", "migrate", "import", "export", "search", "doctor", "demo"}
    assert all(run(command, "--help").exit_code == 0 for command in commands)


@pytest.mark.parametrize("command", [("search", "boil"), ("export", "boil-water")])
def test_without_a_hub_a_command_says_how_to_get_one(command: tuple[str, ...]) -> None:
    assert_plain_error(run(*command), "skillhub up")


def test_a_hub_named_without_a_key_is_an_error() -> None:
    assert_plain_error(run("search", "boil", "--url", "http://127.0.0.1:1"), "no API key")


def test_import_without_a_skill_names_the_folder(tmp_path: Path) -> None:
    assert_plain_error(run("import", str(tmp_path)), f"no SKILL.md in {tmp_path}")


def test_export_takes_a_version_or_a_label() -> None:
    assert_plain_error(run("export", "boil-water", "--version", "1", "--label", "production"), "not both")


@pytest.mark.parametrize("command", ["serve", "worker", "migrate"])
def test_a_server_command_without_a_database_says_how_to_name_one(command: str) -> None:
    assert_plain_error(run(command), "SKILLHUB_DATABASE_URL")


def test_migrating_an_unreachable_database_is_one_plain_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLHUB_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    assert_plain_error(run("migrate"), "connection failed")


def test_serving_needs_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLHUB_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    assert_plain_error(run("serve"), "SKILLHUB_SECRET")


def test_the_doctor_finds_no_fault_before_the_first_start() -> None:
    result = run("doctor")
    assert result.exit_code == 0
    assert "nothing runs here yet" in result.stdout


def test_the_doctor_names_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = run("doctor", "--data-dir", "taken")
    assert result.exit_code == 1
    assert "is a file" in result.stdout


def test_the_doctor_tells_what_is_unreachable_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLHUB_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    monkeypatch.setenv("SKILLHUB_BROKER_URL", "redis://127.0.0.1:1/0")
    result = run("doctor")
    assert result.exit_code == 1
    for check in ("database", "schema", "broker", "workers"):
        assert f"FAULT  {check}: " in result.stdout


def test_a_database_without_a_schema_is_said_in_plain_words(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(postgres.format(name="postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE unmigrated")
    monkeypatch.setenv("SKILLHUB_DATABASE_URL", postgres.format(name="unmigrated"))
    said = run("doctor").stdout
    assert "schema: the database is at revision none" in said
    assert "workers: the database has no jobs yet" in said
    assert "Undefined" not in said


def test_a_database_that_could_lose_commits_is_a_fault(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLHUB_DATABASE_URL", f"{database_url}&options=-csynchronous_commit%3Doff")
    assert "synchronous_commit=off" in run("doctor").stdout


class Walk:
    """Stands in for `demo.circle`: a walk that takes no time."""

    TASKS = ("boil",)
    REPORT = SimpleNamespace(
        as_json=lambda: {"accepted": 1}, text=lambda: "the table", url="http://127.0.0.1:8420/ui/enter", workspace="demo-1"
    )

    def __init__(self) -> None:
        self.asked: list[object] = []

    @contextmanager
    def walked(self, tasks: Sequence[str], *, data_dir: Path, say) -> Iterator[tuple[SimpleNamespace, Stack]]:
        self.asked.extend([list(tasks), data_dir])
        say("planning")
        yield self.REPORT, Stack(data_dir)


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    walk = Walk()
    monkeypatch.setitem(sys.modules, "demo.circle", walk)
    monkeypatch.setattr(demo, "circle", walk, raising=False)
    return walk


def test_the_demo_prints_one_json_object_on_standard_output(walk: Walk) -> None:
    result = run("demo", "--json", "--tasks", "boil, find-animal", "--data-dir", "here")
    assert json.loads(result.stdout) == {"accepted": 1}
    assert walk.asked == [["boil", "find-animal"], Path("here")]


def test_the_demo_without_tasks_takes_its_own_and_with_none_named_refuses(walk: Walk) -> None:
    assert run("demo").stdout == "the table\n"
    assert walk.asked[0] == ["boil"]
    refused = run("demo", "--tasks", " , ")
    assert (refused.exit_code, len(walk.asked)) == (1, 2)


def test_in_a_terminal_the_hub_serves_on_until_ctrl_c(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = create_autospec(Stack.watch, side_effect=KeyboardInterrupt)
    monkeypatch.setattr(Stack, "watch", watch)
    monkeypatch.setattr(circle, "_in_terminal", lambda: True)
    result = run("demo")
    assert (result.exit_code, watch.call_count) == (0, 1)


def test_an_interrupted_demo_says_so_in_one_line(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(walk, "REPORT", SimpleNamespace(text=interrupted))
    result = run("demo")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "error: interrupted")
