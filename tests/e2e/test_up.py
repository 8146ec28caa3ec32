"""`skillhub up` as a person runs it: a command in a terminal, a data folder, Ctrl-C, and worse."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from skillhub_client import Client

from skillhub.processes import Record, Roster

ENDS_WITHIN_SECONDS = 60
SKILL = "---\nname: boil-water\ndescription: How to boil water on the stove.\n---\n\n# Boil water\n\n1. Turn on the stove.\n"


class Up:
    """A running `skillhub up`."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            command("up", data_dir, "--port", "0"),
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.printed = self._read_until("Ctrl-C stops it")
        self.url = re.search(r"ready: (\S+)", self.printed)[1]
        key = re.search(r"admin key.*: (shk_\S+)", self.printed)
        self.key = key[1] if key else None
        self.records = Roster(data_dir / "processes.json").read()

    def _read_until(self, text: str) -> str:
        printed = ""
        for line in self.process.stdout:
            printed += line
            if text in line:
                return printed
        raise AssertionError(f"`skillhub up` ended early:\n{printed}")

    def record(self, name: str) -> Record:
        return next(record for record in self.records if record.name == name)

    def end(self, number: int) -> str:
        """Send a signal, wait for the end, return what was printed meanwhile."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=ENDS_WITHIN_SECONDS)[0]


@contextmanager
def up(data_dir: Path) -> Iterator[Up]:
    running = Up(data_dir)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.end(signal.SIGTERM)


def command(name: str, data_dir: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "skillhub.cli", name, *arguments, "--data-dir", str(data_dir)]


def environment() -> dict[str, str]:
    """The environment without what would name another hub."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SKILLHUB_")}


def run(name: str, data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(name, data_dir, *arguments), env=environment(), capture_output=True, text=True, timeout=ENDS_WITHIN_SECONDS
    )


def alive(records: list[Record]) -> list[str]:
    return [record.name for record in records if record.process()]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "hub"


def test_a_hub_is_started_used_stopped_and_started_again(data_dir: Path, tmp_path: Path) -> None:
    with up(data_dir) as first:
        assert httpx.get(f"{first.url}/readyz").json() == {"status": "ready"}
        doctor = run("doctor", data_dir)
        assert doctor.returncode == 0, doctor.stdout
        Client(first.url, first.key).create_skill("boil-water", SKILL)
        second = run("up", data_dir, "--port", "0")
        assert second.returncode == 1
        assert f"in use by process {first.process.pid}" in second.stderr
        printed = first.end(signal.SIGINT)
    assert first.process.returncode == 0
    assert "stopped" in printed
    assert alive(first.records) == []
    with up(data_dir) as again:
        assert again.key is None
        assert Client(again.url, first.key).get_skill("boil-water").labels["production"] == 1
        assert "boil-water@1" in run("search", data_dir, "heat water").stdout
        archive = tmp_path / "skill.zip"
        assert run("export", data_dir, "boil-water", "-o", str(archive)).returncode == 0
        assert archive.read_bytes()[:2] == b"PK"


def test_a_folder_of_skills_is_imported_twice_without_harm(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "boil-water"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    with up(data_dir) as hub:
        assert "boil-water@1" in run("import", data_dir, str(folder.parent)).stdout
        assert "boil-water@1" in run("import", data_dir, str(folder.parent)).stdout
        (folder / "SKILL.md").write_text(SKILL + "2. Wait.\n")
        assert "boil-water@2" in run("import", data_dir, str(folder.parent)).stdout
        assert Client(hub.url, hub.key).get_skill("boil-water").labels["production"] == 2


def test_kill_9_leaves_no_process_and_no_damage(data_dir: Path) -> None:
    with up(data_dir) as first:
        Client(first.url, first.key).create_skill("boil-water", SKILL)
        processes = [process for record in first.records if (process := record.process())]
        first.end(signal.SIGKILL)
        psutil.wait_procs(processes, timeout=ENDS_WITHIN_SECONDS)
        assert alive(first.records) == []
    with up(data_dir) as again:
        assert Client(again.url, first.key).get_skill("boil-water").labels["production"] == 1


def test_a_start_clears_away_what_a_killed_owner_and_guardian_left(data_dir: Path) -> None:
    with up(data_dir) as first:
        first.record("guardian").process().kill()
        first.end(signal.SIGKILL)
        assert "PostgreSQL" in alive(first.records)
    with up(data_dir) as again:
        assert alive(first.records) == []
        assert Client(again.url, first.key).health().status == "ready"


def test_a_dead_process_stops_the_rest_and_is_named(data_dir: Path) -> None:
    with up(data_dir) as hub:
        hub.record("worker").process().kill()
        printed = hub.process.communicate(timeout=ENDS_WITHIN_SECONDS)[0]
    assert hub.process.returncode == 1
    assert "error: worker was ended by SIGKILL" in printed
    assert "Traceback" not in printed
    assert alive(hub.records) == []


def test_a_long_path_of_the_data_folder_does_no_harm(tmp_path: Path) -> None:
    data_dir = tmp_path / ("a-folder-with-a-rather-long-name-" * 4)
    with up(data_dir) as hub:
        assert Client(hub.url, hub.key).health().status == "ready"


def test_the_folder_tells_others_nothing(data_dir: Path) -> None:
    with up(data_dir) as hub:
        assert hub.key not in "".join(path.read_text() for path in data_dir.glob("*.json"))
        for name in ("secret", "broker-password", "running.json", "processes.json"):
            assert (data_dir / name).stat().st_mode & 0o077 == 0
        assert (data_dir / "postgres").stat().st_mode & 0o077 == 0
