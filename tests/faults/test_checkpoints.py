"""Promise 3: a job runs at least once and takes effect once, wherever its worker is killed and however often it is told of it.

A process is killed (SIGKILL) before its 1st, 2nd, 3rd, ... statement or commit of a job, until a run has no such place left:
before the claim, after it, in the work, in the effect, before its commit, after it. Then a real worker does what is left.
"""

import os
import subprocess
import sys
from dataclasses import replace

import sqlalchemy as sa

from skillhub.config import Settings
from skillhub.rollouts.ingest import EpisodeInput
from skillhub.services import episodes, job_control
from skillhub.services.scope import Scope
from tests.conftest import ROOT
from tests.faults.conftest import until
from tests.faults.test_worker_kill import StartWorker, boiling, count, extraction
from workers.app import announcer

COUNT = "0"
"""In place of the number of a checkpoint: count them."""
PROGRAM = """
import os, signal, sys
from sqlalchemy import event
from skillhub.config import Settings
from skillhub.store.session import Database
from workers import runner

def run(job_id, fatal):
    settings, passed = Settings(), 0
    database = Database(settings.database_url, pool_size=2)
    def checkpoint(*_):
        nonlocal passed
        passed += 1
        if passed == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
    event.listen(database.engine, "before_cursor_execute", checkpoint)
    event.listen(database.engine, "commit", checkpoint)
    runner.run(database, job_id, settings=settings, announce=lambda _: None)
    checkpoint()
    return passed

fatal, *ids = sys.argv[1:]
if fatal == "0":
    print(run(ids[0], 0))
    raise SystemExit
for number, job_id in enumerate(ids, start=1):
    child = os.fork()  # nothing is open and no model is loaded: a fork is safe, and spares 2 s of imports each time
    if child == 0:
        run(job_id, number)
        os._exit(0)
    print(number, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def boiling_slice(slice: str) -> list[EpisodeInput]:
    return [replace(boiling(thing), key=f"{slice}/{thing}", slice=slice) for thing in ("water", "lead", "tin")]


def killed_at(settings: Settings, first: str, *ids: str) -> list[str]:
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "SKILLHUB_DATABASE_URL": settings.database_url,
        "SKILLHUB_LEASE_SECONDS": "600",
    }
    command = [sys.executable, "-c", PROGRAM, first, *ids]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_worker_killed_at_any_checkpoint_leaves_one_effect(
    scope: Scope, settings: Settings, start_worker: StartWorker
) -> None:
    episodes.ingest(scope, boiling_slice("whole"))
    checkpoints = int(killed_at(settings, COUNT, extraction(scope, "whole"))[-1])
    per_job = count(scope, "SELECT count(*) FROM candidate")
    slices = [f"s{number}" for number in range(checkpoints)]
    for name in slices:
        episodes.ingest(scope, boiling_slice(name))
    ids = [extraction(scope, name) for name in slices]
    ended = killed_at(settings, "1", *ids)
    assert [line.split()[1] for line in ended] == ["-9"] * checkpoints
    with scope.database.engine.begin() as owner:  # their leases are long, so that none runs out while the next is killed
        owner.execute(sa.text("UPDATE job SET lease_expires_at = now() + interval '2 s' WHERE state = 'running'"))
    announce = announcer(settings)
    for job_id in ids * 2:
        announce(job_id)
    begun = start_worker()
    seconds = until(
        lambda: count(scope, "SELECT count(*) FROM job WHERE state IN ('queued', 'running', 'failed')") == 0, why="all end"
    )
    assert begun.poll() is None
    attempts = [job_control.get(scope, job_id).job.attempt for job_id in ids]
    candidates = count(scope, "SELECT count(*) FROM candidate") - per_job
    succeeded = count(scope, "SELECT count(DISTINCT subject_id) FROM event WHERE kind = 'job.succeeded'")
    twice = count(scope, "SELECT count(*) FROM event WHERE kind = 'job.succeeded'") - succeeded
    print(f"\nSIGKILL at each of {checkpoints} checkpoints, every message sent twice: {succeeded - 1} jobs succeeded, "
          f"{twice} twice, {candidates} candidates of {per_job * checkpoints}, attempts 1: {attempts.count(1)}, "
          f"2: {attempts.count(2)}; all terminal {seconds:.1f} s after the start of a worker")  # fmt: skip
    assert (succeeded - 1, twice, candidates) == (checkpoints, 0, per_job * checkpoints)
    assert count(scope, "SELECT count(*) - count(DISTINCT (target_slice, skill_name)) FROM candidate") == 0
    assert set(attempts) == {1, 2}
