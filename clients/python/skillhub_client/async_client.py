"""The client to await: the same methods as `Client`."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, TypeVar

import httpx

from skillhub_client import bulk
from skillhub_client.client import FINAL_JOB_STATES
from skillhub_client.endpoints import catalog, episodes, gate
from skillhub_client.errors import TimedOut
from skillhub_client.methods import awaited
from skillhub_client.models import Job
from skillhub_client.transport import Call, Exchange, Retries, build_request, checked_key, read

T = TypeVar("T")


class AsyncClient:
    """skillhub at `base_url` (`http://host:port`), as the owner of `api_key`."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_seconds: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {checked_key(api_key)}"}
        self._http = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=timeout_seconds, transport=transport)
        self._retries = retries or Retries()

    async def send(self, call: Call[T]) -> T:
        """Make one call, with retries."""
        exchange = Exchange(build_request(self._http, call), self._retries)
        attempt = 1
        while True:
            try:
                response = await self._http.send(exchange.request)
            except httpx.HTTPError as error:
                pause = exchange.after_failure(error, attempt)
            else:
                pause = exchange.after_answer(response, attempt)
                if pause is None:
                    return read(call, response)
            await asyncio.sleep(pause)
            attempt += 1

    async def wait_for_job(self, id: str, *, timeout_seconds: float = 60.0, poll_seconds: float = 0.2) -> Job:
        """The job once it has `succeeded` or is `dead`; TimedOut where that takes longer."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            job = await self.get_job(id)
            if job.state in FINAL_JOB_STATES:
                return job
            if time.monotonic() >= deadline:
                raise TimedOut(f"job {id} is still {job.state} after {timeout_seconds:g} s")
            await asyncio.sleep(poll_seconds)

    def import_ndjson(self, lines: Iterable[Mapping[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        """What became of each line `{name, document, kind?, files?, label?, message?}`: a version, or `error`; not tried again."""
        return bulk.import_ndjson_async(self._http, lines)

    def export_ndjson(
        self, *, label: str | None = None, kind: str | None = None, state: str | None = None, prefix: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Every skill under a label, as lines that `import_ndjson` takes."""
        return bulk.export_ndjson_async(self._http, label=label, kind=kind, state=state, prefix=prefix)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    health = awaited(catalog.health)
    create_skill = awaited(catalog.create_skill)
    publish_version = awaited(catalog.publish_version)
    get_skill = awaited(catalog.get_skill)
    list_skills = awaited(catalog.list_skills)
    get_version = awaited(catalog.get_version)
    history = awaited(catalog.history)
    get_label = awaited(catalog.get_label)
    move_label = awaited(catalog.move_label)
    rollback = awaited(catalog.rollback)
    retire = awaited(catalog.retire)
    lineage = awaited(catalog.lineage)
    blame = awaited(catalog.blame)
    export_skill = awaited(catalog.export_skill)
    events = awaited(catalog.events)
    ui_session = awaited(catalog.ui_session)
    ingest_episodes = awaited(episodes.ingest_episodes)
    list_episodes = awaited(episodes.list_episodes)
    get_episode = awaited(episodes.get_episode)
    search = awaited(episodes.search)
    contexts = awaited(episodes.contexts)
    put_suite = awaited(gate.put_suite)
    extract = awaited(gate.extract)
    get_job = awaited(gate.get_job)
    list_jobs = awaited(gate.list_jobs)
    propose = awaited(gate.propose)
    list_candidates = awaited(gate.list_candidates)
    get_candidate = awaited(gate.get_candidate)
    open_gate = awaited(gate.open_gate)
    get_gate = awaited(gate.get_gate)
    lease_trials = awaited(gate.lease_trials)
    heartbeat_trial = awaited(gate.heartbeat_trial)
    finish_trial = awaited(gate.finish_trial)
    fail_trial = awaited(gate.fail_trial)
