"""The client to await: the same methods as `Client`."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

import httpx

from skillhub_client import bulk
from skillhub_client.client import FINAL_JOB_STATES
from skillhub_client.endpoints import access, branches, catalog, episodes, gate, jobs, optimise, webhooks
from skillhub_client.errors import TimedOut
from skillhub_client.methods import awaited
from skillhub_client.models import Event, Job
from skillhub_client.transport import Call, Exchange, Retries, build_request, checked_key, read
from skillhub_client.watch import Watch

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
        """The job once it has `succeeded`, is `dead` or `cancelled`; TimedOut where that takes longer."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            job = await self.get_job(id)
            if job.state in FINAL_JOB_STATES:
                return job
            if time.monotonic() >= deadline:
                raise TimedOut(f"job {id} is still {job.state} after {timeout_seconds:g} s")
            await asyncio.sleep(poll_seconds)

    async def watch_events(self, *, after: int = 0, **filters: str) -> AsyncIterator[Event]:
        """Events above `after` as they happen, without end; the connection is made again where it breaks, and none is missed or
        comes twice. `kind`, `subject_id` and `actor` narrow them. Raises once the server stays away for all retries."""
        watch = Watch(filters, after, self._retries)
        while True:
            request, lost = watch.request(self._http), None
            try:
                response = await self._http.send(request, stream=True)
                async with aclosing(response):
                    if not response.is_success:
                        await response.aread()
                        watch.failures += 1
                        await asyncio.sleep(watch.refused(request, response))
                        continue
                    async for line in response.aiter_lines():
                        if event := watch.read(line):
                            yield event
            except httpx.HTTPError as error:
                lost = error
            await asyncio.sleep(watch.broken(request, lost))

    def import_ndjson(self, lines: Iterable[Mapping[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        """What became of each line `{name, document, kind?, files?, label?, message?}`: a version or `error`; not retried."""
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
    publish_all = awaited(catalog.publish_all)
    diff_versions = awaited(catalog.diff_versions)
    merge_versions = awaited(catalog.merge_versions)
    get_skill = awaited(catalog.get_skill)
    list_skills = awaited(catalog.list_skills)
    get_version = awaited(catalog.get_version)
    history = awaited(catalog.history)
    get_label = awaited(catalog.get_label)
    move_label = awaited(catalog.move_label)
    remove_label = awaited(catalog.remove_label)
    list_label_moves = awaited(catalog.list_label_moves)
    rollback = awaited(catalog.rollback)
    retire = awaited(catalog.retire)
    quarantine = awaited(catalog.quarantine)
    release = awaited(catalog.release)
    quarantine_version = awaited(catalog.quarantine_version)
    release_version = awaited(catalog.release_version)
    descendants = awaited(catalog.descendants)
    lineage = awaited(catalog.lineage)
    blame = awaited(catalog.blame)
    export_skill = awaited(catalog.export_skill)
    import_skills = awaited(catalog.import_skills)
    export_skills = awaited(catalog.export_skills)
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
    cancel_job = awaited(jobs.cancel_job)
    retry_job = awaited(jobs.retry_job)
    retry_jobs = awaited(jobs.retry_jobs)
    get_workspace = awaited(access.get_workspace)
    list_keys = awaited(access.list_keys)
    create_key = awaited(access.create_key)
    rotate_key = awaited(access.rotate_key)
    revoke_key = awaited(access.revoke_key)
    audit_head = awaited(access.audit_head)
    audit_verify = awaited(access.audit_verify)
    create_branch = awaited(branches.create_branch)
    list_branches = awaited(branches.list_branches)
    get_branch = awaited(branches.get_branch)
    propose_on_branch = awaited(branches.propose_on_branch)
    merge_branch = awaited(branches.merge_branch)
    close_branch = awaited(branches.close_branch)
    start_optimisation = awaited(optimise.start_optimisation)
    list_optimisations = awaited(optimise.list_optimisations)
    get_optimisation = awaited(optimise.get_optimisation)
    list_optimisation_steps = awaited(optimise.list_optimisation_steps)
    get_asked = awaited(optimise.get_asked)
    answer_with_proposals = awaited(optimise.answer_with_proposals)
    cancel_optimisation = awaited(optimise.cancel_optimisation)
    list_webhooks = awaited(webhooks.list_webhooks)
    create_webhook = awaited(webhooks.create_webhook)
    get_webhook = awaited(webhooks.get_webhook)
    change_webhook = awaited(webhooks.change_webhook)
    delete_webhook = awaited(webhooks.delete_webhook)
    rotate_webhook_secret = awaited(webhooks.rotate_webhook_secret)
    test_webhook = awaited(webhooks.test_webhook)
    list_deliveries = awaited(webhooks.list_deliveries)
    redeliver = awaited(webhooks.redeliver)
    list_schedules = awaited(jobs.list_schedules)
    get_schedule = awaited(jobs.get_schedule)
    put_schedule = awaited(jobs.put_schedule)
    delete_schedule = awaited(jobs.delete_schedule)
    propose = awaited(gate.propose)
    list_candidates = awaited(gate.list_candidates)
    list_suites = awaited(gate.list_suites)
    get_suite = awaited(gate.get_suite)
    list_cases = awaited(gate.list_cases)
    list_gates = awaited(gate.list_gates)
    list_gate_trials = awaited(gate.list_gate_trials)
    list_decisions = awaited(gate.list_decisions)
    list_contexts = awaited(episodes.list_contexts)
    get_context = awaited(episodes.get_context)
    list_labels = awaited(catalog.list_labels)
    query_labels = awaited(catalog.query_labels)
    query_versions = awaited(catalog.query_versions)
    retire_many = awaited(catalog.retire_many)
    get_candidate = awaited(gate.get_candidate)
    open_gate = awaited(gate.open_gate)
    get_gate = awaited(gate.get_gate)
    replay_gate = awaited(gate.replay_gate)
    lease_trials = awaited(gate.lease_trials)
    heartbeat_trial = awaited(gate.heartbeat_trial)
    finish_trial = awaited(gate.finish_trial)
    fail_trial = awaited(gate.fail_trial)
