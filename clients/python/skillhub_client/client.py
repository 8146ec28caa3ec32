"""The client that blocks. Safe to share between threads."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import httpx

from skillhub_client import bulk
from skillhub_client.endpoints import catalog, episodes, gate
from skillhub_client.errors import TimedOut
from skillhub_client.methods import blocking
from skillhub_client.models import Job
from skillhub_client.transport import Call, Exchange, Retries, build_request, checked_key, read

T = TypeVar("T")

FINAL_JOB_STATES = frozenset({"succeeded", "dead"})


class Client:
    """skillhub at `base_url` (`http://host:port`), as the owner of `api_key`.

    `transport` is the seam for tests; `retries` says how often a call is tried.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_seconds: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {checked_key(api_key)}"}
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=timeout_seconds, transport=transport)
        self._retries = retries or Retries()

    def send(self, call: Call[T]) -> T:
        """Make one call, with retries."""
        exchange = Exchange(build_request(self._http, call), self._retries)
        attempt = 1
        while True:
            try:
                response = self._http.send(exchange.request)
            except httpx.HTTPError as error:
                pause = exchange.after_failure(error, attempt)
            else:
                pause = exchange.after_answer(response, attempt)
                if pause is None:
                    return read(call, response)
            time.sleep(pause)
            attempt += 1

    def wait_for_job(self, id: str, *, timeout_seconds: float = 60.0, poll_seconds: float = 0.2) -> Job:
        """The job once it has `succeeded` or is `dead`; TimedOut where that takes longer."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            job = self.get_job(id)
            if job.state in FINAL_JOB_STATES:
                return job
            if time.monotonic() >= deadline:
                raise TimedOut(f"job {id} is still {job.state} after {timeout_seconds:g} s")
            time.sleep(poll_seconds)

    def import_ndjson(self, lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """What became of each line `{name, document, kind?, files?, label?, message?}`: a version, or `error`; not tried again."""
        return bulk.import_ndjson(self._http, lines)

    def export_ndjson(
        self, *, label: str | None = None, kind: str | None = None, state: str | None = None, prefix: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Every skill under a label, as lines that `import_ndjson` takes."""
        return bulk.export_ndjson(self._http, label=label, kind=kind, state=state, prefix=prefix)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    health = blocking(catalog.health)
    create_skill = blocking(catalog.create_skill)
    publish_version = blocking(catalog.publish_version)
    get_skill = blocking(catalog.get_skill)
    list_skills = blocking(catalog.list_skills)
    get_version = blocking(catalog.get_version)
    history = blocking(catalog.history)
    get_label = blocking(catalog.get_label)
    move_label = blocking(catalog.move_label)
    rollback = blocking(catalog.rollback)
    retire = blocking(catalog.retire)
    lineage = blocking(catalog.lineage)
    blame = blocking(catalog.blame)
    export_skill = blocking(catalog.export_skill)
    events = blocking(catalog.events)
    ui_session = blocking(catalog.ui_session)
    ingest_episodes = blocking(episodes.ingest_episodes)
    list_episodes = blocking(episodes.list_episodes)
    get_episode = blocking(episodes.get_episode)
    search = blocking(episodes.search)
    contexts = blocking(episodes.contexts)
    put_suite = blocking(gate.put_suite)
    extract = blocking(gate.extract)
    get_job = blocking(gate.get_job)
    list_jobs = blocking(gate.list_jobs)
    propose = blocking(gate.propose)
    list_candidates = blocking(gate.list_candidates)
    get_candidate = blocking(gate.get_candidate)
    open_gate = blocking(gate.open_gate)
    get_gate = blocking(gate.get_gate)
    lease_trials = blocking(gate.lease_trials)
    heartbeat_trial = blocking(gate.heartbeat_trial)
    finish_trial = blocking(gate.finish_trial)
    fail_trial = blocking(gate.fail_trial)
