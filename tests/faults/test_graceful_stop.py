"""A clean stop cuts nobody off: requests in flight are answered, jobs end or are given back."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from skillhub_client import Client

from skillhub.config import Settings
from skillhub.services import job_control, keys
from skillhub.services.scope import Scope
from tests.conftest import ROOT
from tests.faults.conftest import until
from tests.faults.test_worker_kill import READING, StartWorker, extraction, held, loud, someone_waits, stored

__all__ = ["loud"]
SECRET = "a-secret-of-the-tests"
StartApi = Callable[[socket.socket], subprocess.Popen]
LISTENING = "startup complete"


@pytest.fixture
def start_api(database_url: str, tmp_path: Path) -> Iterator[StartApi]:
    """Starts an API process on an inherited listening socket; all are killed at the end."""
    started: list[subprocess.Popen] = []
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "SKILLHUB_DATABASE_URL": database_url,
        "SKILLHUB_SECRET": SECRET,
        "SKILLHUB_SHUTDOWN_SECONDS": "5",
    }

    def start(listener: socket.socket) -> subprocess.Popen:
        log = tmp_path / f"api-{len(started)}.log"
        command = [sys.executable, "-m", "skillhub.cli", "serve", "--fd", str(listener.fileno())]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=environment, cwd=ROOT, stdout=output, stderr=output, pass_fds=(listener.fileno(),)
            )
        started.append(process)
        until(lambda: LISTENING in log.read_text() or process.poll() is not None, why="the API listens")
        assert process.poll() is None, log.read_text()
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


class Caller(threading.Thread):
    """Asks again and again until told to stop; what went wrong is in `failures`."""

    def __init__(self, ask: Callable[[], None]) -> None:
        super().__init__()
        self.ask = ask
        self.over = threading.Event()
        self.calls = 0
        self.failures: list[str] = []

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self.ask()
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
            self.calls += 1


def test_a_rolling_restart_answers_every_request(scope: Scope, start_api: StartApi) -> None:
    """Two processes accept from one socket. New connections are never reset; a kept connection may be closed between two
    requests, as HTTP allows at any time, and the SDK then sends again."""
    key = keys.create_key(scope, name="tests", secret=SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        old = start_api(listener)

        def ask_anew() -> None:
            headers = {"Authorization": f"Bearer {key}", "Connection": "close"}
            httpx.get(f"{url}/v1/skills", headers=headers, timeout=30).raise_for_status()

        sdk = Client(url, key)
        callers = [Caller(ask_anew), Caller(ask_anew), Caller(lambda: sdk.list_skills())]
        for caller in callers:
            caller.start()
        start_api(listener)
        old.send_signal(signal.SIGTERM)
        old.wait(30)
        before = sum(caller.calls for caller in callers)
        until(lambda: sum(caller.calls for caller in callers) > before + 20, why="the new process answers")
        for caller in callers:
            caller.over.set()
            caller.join()
    failures = [failure for caller in callers for failure in caller.failures]
    print(f"\nrolling restart: {sum(caller.calls for caller in callers)} requests, {len(failures)} not answered")
    assert failures == []


def test_a_request_in_flight_is_answered_by_the_process_that_stops(scope: Scope, start_api: StartApi) -> None:
    key = keys.create_key(scope, name="tests", secret=SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        api = start_api(listener)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/skills"
        answers: list[int] = []
        with held(scope, "LOCK TABLE skill IN ACCESS EXCLUSIVE MODE"):
            headers = {"Authorization": f"Bearer {key}"}
            asking = threading.Thread(target=lambda: answers.append(httpx.get(url, headers=headers, timeout=30).status_code))
            asking.start()
            until(lambda: someone_waits(scope), why="the request is in the database")
            api.send_signal(signal.SIGTERM)
        asking.join(30)
        api.wait(30)
    assert answers == [200]


def test_a_request_that_does_not_end_does_not_keep_the_process(scope: Scope, start_api: StartApi) -> None:
    """What never ends (a stream, a stuck query) is cut after SKILLHUB_SHUTDOWN_SECONDS, so that the process is gone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        api = start_api(listener)
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(b"POST /v1/skills HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            api.send_signal(signal.SIGTERM)
            assert api.wait(30) is not None


def test_a_stopped_worker_gives_back_what_does_not_end_in_time(
    loud: Scope, settings: Settings, start_worker: StartWorker
) -> None:
    """The lease is ten minutes: the second worker has the job because it was given back, not because the lease ran out."""
    first = start_worker(lease_seconds=600, shutdown_seconds=1)
    with held(loud, READING):
        job_id = extraction(loud)
        until(lambda: someone_waits(loud), why="the job is under way")
        first.send_signal(signal.SIGTERM)
        assert first.wait(30) == 0
        assert (stored(loud, job_id).state, stored(loud, job_id).forgiven) == ("queued", 1)
        start_worker(lease_seconds=600)
        seconds = until(lambda: stored(loud, job_id).state == "running", why="the second worker takes the job")
    until(lambda: stored(loud, job_id).state == "succeeded", why="the second worker ends the job")
    print(f"\nSIGTERM under a lease of 600 s: taken by another worker {seconds:.1f} s after the start of it")
    assert [one.state for one in job_control.get(loud, job_id).attempts] == ["given_back", "succeeded"]
