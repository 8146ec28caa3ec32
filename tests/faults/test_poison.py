"""Promise 4: poison is contained. A job that kills its process gets three attempts, and the others get done."""

import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace

from skillhub.config import Settings
from skillhub.models import Job
from skillhub.services import jobs
from skillhub.services.scope import Scope
from tests.faults.conftest import POISONED, until
from tests.faults.poison import NOTE, POISON
from workers.app import announcer

NOTES = 40
StartWorker = Callable[[str], subprocess.Popen]


@dataclass
class Supervisor:
    """Two workers, each started anew when it dies, as a service manager does."""

    start: StartWorker
    workers: list[subprocess.Popen]

    def tend(self) -> None:
        self.workers = [worker if worker.poll() is None else self.start(POISONED) for worker in self.workers]


def enqueue(scope: Scope, kind: str, count: int) -> list[str]:
    with scope.transaction() as unit:
        return [unit.enqueue(kind).id for _ in range(count)]


def ended(scope: Scope, job_ids: list[str]) -> list[Job]:
    found = [jobs.get(scope, job_id) for job_id in job_ids]
    return [job for job in found if job.finished_at is not None]


def test_4_a_job_that_kills_its_process_is_dead_after_three_attempts_and_holds_nobody_up(
    scope: Scope, settings: Settings, start_worker: StartWorker
) -> None:
    loud = replace(scope, announce=announcer(settings))
    supervisor = Supervisor(start_worker, [start_worker(POISONED), start_worker(POISONED)])

    def done(job_ids: list[str]) -> bool:
        supervisor.tend()
        return len(ended(scope, job_ids)) == len(job_ids)

    warm = enqueue(loud, NOTE, 1)
    until(lambda: done(warm), why="a worker is there")
    alone = enqueue(loud, NOTE, NOTES)
    until(lambda: done(alone), why="the jobs end without poison")
    [poison] = enqueue(loud, POISON, 1)
    beside = enqueue(loud, NOTE, NOTES)
    until(lambda: done([poison, *beside]), why="the poison is dead and the others are done")
    dead = jobs.get(scope, poison)
    print(f"\npoison: {dead.state} after {dead.attempt} attempts; p95 of {NOTES} others "
          f"{_p95(scope, alone):.2f} s without it, {_p95(scope, beside):.2f} s beside it")  # fmt: skip
    assert (dead.state, dead.attempt) == ("dead", 3)
    assert {jobs.get(scope, job_id).state for job_id in [*alone, *beside]} == {"succeeded"}


def _p95(scope: Scope, job_ids: list[str]) -> float:
    """Seconds from enqueuing to the end, 95th percentile."""
    seconds = [(job.finished_at - job.created_at).total_seconds() for job in ended(scope, job_ids)]
    return statistics.quantiles(seconds, n=20)[-1]
