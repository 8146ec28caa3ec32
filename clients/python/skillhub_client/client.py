"""The client that blocks. Safe to share between threads."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, TypeVar

import httpx

from skillhub_client import bulk
from skillhub_client.endpoints import access, branches, catalog, episodes, gate, jobs, optimise, webhooks
from skillhub_client.errors import TimedOut
from skillhub_client.methods import blocking
from skillhub_client.models import Event, Job
from skillhub_client.transport import Call, Exchange, Retries, build_request, checked_key, read
from skillhub_client.watch import Watch

T = TypeVar("T")

FINAL_JOB_STATES = frozenset({"succeeded", "dead", "cancelled"})


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
        """The job once it has `succeeded`, is `dead` or `cancelled`; TimedOut where that takes longer."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            job = self.get_job(id)
            if job.state in FINAL_JOB_STATES:
                return job
            if time.monotonic() >= deadline:
                raise TimedOut(f"job {id} is still {job.state} after {timeout_seconds:g} s")
            time.sleep(poll_seconds)

    def watch_events(self, *, after: int = 0, **filters: str) -> Iterator[Event]:
        """Events above `after` as they happen, without end; the connection is made again where it breaks, and none is missed or
        comes twice. `kind`, `subject_id` and `actor` narrow them. Raises once the server stays away for all retries."""
        watch = Watch(filters, after, self._retries)
        while True:
            request, lost = watch.request(self._http), None
            try:
                response = self._http.send(request, stream=True)
                with closing(response):
                    if not response.is_success:
                        response.read()
                        watch.failures += 1
                        time.sleep(watch.refused(request, response))
                        continue
                    yield from filter(None, map(watch.read, response.iter_lines()))
            except httpx.HTTPError as error:
                lost = error
            time.sleep(watch.broken(request, lost))

    def import_ndjson(self, lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """What became of each line `{name, document, kind?, files?, label?, message?}`: a version or `error`; not retried."""
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
    publish_all = blocking(catalog.publish_all)
    diff_versions = blocking(catalog.diff_versions)
    merge_versions = blocking(catalog.merge_versions)
    get_skill = blocking(catalog.get_skill)
    list_skills = blocking(catalog.list_skills)
    get_version = blocking(catalog.get_version)
    history = blocking(catalog.history)
    get_label = blocking(catalog.get_label)
    move_label = blocking(catalog.move_label)
    remove_label = blocking(catalog.remove_label)
    list_label_moves = blocking(catalog.list_label_moves)
    rollback = blocking(catalog.rollback)
    retire = blocking(catalog.retire)
    quarantine = blocking(catalog.quarantine)
    release = blocking(catalog.release)
    quarantine_version = blocking(catalog.quarantine_version)
    release_version = blocking(catalog.release_version)
    descendants = blocking(catalog.descendants)
    lineage = blocking(catalog.lineage)
    blame = blocking(catalog.blame)
    export_skill = blocking(catalog.export_skill)
    import_skills = blocking(catalog.import_skills)
    export_skills = blocking(catalog.export_skills)
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
    cancel_job = blocking(jobs.cancel_job)
    retry_job = blocking(jobs.retry_job)
    retry_jobs = blocking(jobs.retry_jobs)
    get_workspace = blocking(access.get_workspace)
    list_keys = blocking(access.list_keys)
    create_key = blocking(access.create_key)
    rotate_key = blocking(access.rotate_key)
    revoke_key = blocking(access.revoke_key)
    audit_head = blocking(access.audit_head)
    audit_verify = blocking(access.audit_verify)
    create_branch = blocking(branches.create_branch)
    list_branches = blocking(branches.list_branches)
    get_branch = blocking(branches.get_branch)
    propose_on_branch = blocking(branches.propose_on_branch)
    merge_branch = blocking(branches.merge_branch)
    close_branch = blocking(branches.close_branch)
    start_optimisation = blocking(optimise.start_optimisation)
    list_optimisations = blocking(optimise.list_optimisations)
    get_optimisation = blocking(optimise.get_optimisation)
    list_optimisation_steps = blocking(optimise.list_optimisation_steps)
    get_asked = blocking(optimise.get_asked)
    answer_with_proposals = blocking(optimise.answer_with_proposals)
    cancel_optimisation = blocking(optimise.cancel_optimisation)
    list_webhooks = blocking(webhooks.list_webhooks)
    create_webhook = blocking(webhooks.create_webhook)
    get_webhook = blocking(webhooks.get_webhook)
    change_webhook = blocking(webhooks.change_webhook)
    delete_webhook = blocking(webhooks.delete_webhook)
    rotate_webhook_secret = blocking(webhooks.rotate_webhook_secret)
    test_webhook = blocking(webhooks.test_webhook)
    list_deliveries = blocking(webhooks.list_deliveries)
    redeliver = blocking(webhooks.redeliver)
    list_schedules = blocking(jobs.list_schedules)
    get_schedule = blocking(jobs.get_schedule)
    put_schedule = blocking(jobs.put_schedule)
    delete_schedule = blocking(jobs.delete_schedule)
    propose = blocking(gate.propose)
    list_candidates = blocking(gate.list_candidates)
    list_suites = blocking(gate.list_suites)
    get_suite = blocking(gate.get_suite)
    list_cases = blocking(gate.list_cases)
    list_gates = blocking(gate.list_gates)
    list_gate_trials = blocking(gate.list_gate_trials)
    list_decisions = blocking(gate.list_decisions)
    list_contexts = blocking(episodes.list_contexts)
    get_context = blocking(episodes.get_context)
    list_labels = blocking(catalog.list_labels)
    query_labels = blocking(catalog.query_labels)
    query_versions = blocking(catalog.query_versions)
    retire_many = blocking(catalog.retire_many)
    get_candidate = blocking(gate.get_candidate)
    open_gate = blocking(gate.open_gate)
    get_gate = blocking(gate.get_gate)
    replay_gate = blocking(gate.replay_gate)
    lease_trials = blocking(gate.lease_trials)
    heartbeat_trial = blocking(gate.heartbeat_trial)
    finish_trial = blocking(gate.finish_trial)
    fail_trial = blocking(gate.fail_trial)
