"""Calls that steer background jobs: cancel, start over, schedules."""

from collections.abc import Mapping, Sequence
from typing import Any

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, as_nothing, given, part, strings
from skillhub_client.transport import Call


def cancel_job(id: str) -> Call[m.Job]:
    """End a job without an effect. Conflict where it is over; cancelling again changes nothing."""
    return Call("POST", f"/v1/jobs/{part(id)}/cancel", as_(m.Job))


def retry_job(id: str) -> Call[m.Job]:
    """Start a dead or cancelled job over, its attempts counted anew. Conflict in any other state."""
    return Call("POST", f"/v1/jobs/{part(id)}/retry", as_(m.Job))


def retry_jobs(ids: Sequence[str]) -> Call[m.JobList]:
    """Start several dead or cancelled jobs over, all or none."""
    return Call("POST", "/v1/jobs/retry", as_(m.JobList), json={"ids": strings(ids)})


def list_schedules(*, cursor: str | None = None, limit: int | None = None) -> Call[m.Page[m.Schedule]]:
    """One page of schedules, by name."""
    return Call("GET", "/v1/schedules", as_(m.Page[m.Schedule]), params={"cursor": cursor, "limit": limit})


def get_schedule(name: str) -> Call[m.Schedule]:
    """When it runs next, and the job of its last time."""
    return Call("GET", f"/v1/schedules/{part(name)}", as_(m.Schedule))


def put_schedule(
    name: str,
    *,
    kind: str,
    payload: Mapping[str, Any],
    cron: str | None = None,
    every_seconds: int | None = None,
    enabled: bool = True,
) -> Call[m.Schedule]:
    """Make or replace a schedule: `cron` (five fields, UTC) or `every_seconds`."""
    body = {"kind": kind, "payload": payload, "cron": cron, "every_seconds": every_seconds, "enabled": enabled}
    return Call("PUT", f"/v1/schedules/{part(name)}", as_(m.Schedule), json=given(body))


def delete_schedule(name: str) -> Call[None]:
    """Its jobs stay."""
    return Call("DELETE", f"/v1/schedules/{part(name)}", as_nothing)
