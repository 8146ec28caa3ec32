"""The Celery side: a message says only "try job 7". Its loss, its doubling and its delay cost nothing but time."""

import logging
import time
from collections.abc import Callable

from celery import Celery, bootsteps
from celery.exceptions import ImproperlyConfigured
from kombu.exceptions import KombuError, OperationalError

from skillhub.config import Settings
from skillhub.store.session import Database

log = logging.getLogger("skillhub.workers")

TASK = "skillhub.run_job"
QUEUE = "skillhub"
CONNECT_SECONDS = 1.0
"""Longest wait for a broker that does not answer."""
QUIET_SECONDS = 5.0
"""After a failed announcement none is tried for this long; the sweeper finds the jobs."""


class RefuseFork(bootsteps.Step):
    """FAISS, torch and open database connections do not survive a fork: it hangs later, so it is refused at once."""

    def __init__(self, worker: object, **options: object) -> None:
        pool = worker.pool_cls.__module__
        if pool.endswith("prefork"):
            raise ImproperlyConfigured("skillhub workers do not run in the prefork pool; use --pool=threads")


def create_celery(settings: Settings) -> Celery:
    """A Celery application that speaks JSON only and keeps no results; the job's row has them."""
    app = Celery("skillhub", broker=settings.broker_url)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue=QUEUE,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={"socket_connect_timeout": CONNECT_SECONDS, "socket_keepalive": True},
    )
    app.steps["worker"].add(RefuseFork)
    return app


def announcer(settings: Settings) -> Callable[[str], None]:
    """`announce(job_id)` for those who enqueue. It never fails and never waits long; without a broker it does nothing."""
    if not settings.broker_url:
        return _say_nothing
    app = create_celery(settings)
    app.conf.broker_transport_options |= {"socket_timeout": CONNECT_SECONDS, "max_retries": 0}
    quiet_until = 0.0

    def announce(job_id: str) -> None:
        nonlocal quiet_until
        if time.monotonic() < quiet_until:
            return
        try:
            app.send_task(TASK, args=[job_id], retry=False)
        except (OperationalError, KombuError, OSError) as error:
            quiet_until = time.monotonic() + QUIET_SECONDS
            log.warning("the broker was not told of job %s, the sweeper will: %s", job_id, error)

    return announce


def run_worker(settings: Settings, *, concurrency: int = 2) -> int:
    """Run a worker in the foreground until SIGTERM; returns the exit code.

    Running jobs get `shutdown_seconds` to end; then they are given back and the process ends with code 0.
    """
    from workers import broker, courier, runner, shutdown, sweeper

    database = Database(settings.database_url)
    announce = announcer(settings)
    broker.outlive()
    app = create_celery(settings)

    @app.task(name=TASK)
    def run_job(job_id: str) -> None:
        runner.run(database, job_id, settings=settings, announce=announce)

    worker = app.Worker(
        pool="threads", concurrency=concurrency, without_gossip=True, without_mingle=True, without_heartbeat=True
    )
    with (
        sweeper.sweeping(database, announce, settings),
        courier.delivering(database, settings),
        shutdown.bounded(settings.shutdown_seconds),
    ):
        worker.start()
    database.dispose()
    return worker.exitcode or 0


def _say_nothing(job_id: str) -> None:
    """No broker is set; the sweeper finds the job."""
