"""Who may do what: one line an operation. The application does not start where one is missing."""

from collections.abc import Iterable

from fastapi import APIRouter
from fastapi.routing import APIRoute

from skillhub.errors import Forbidden
from skillhub.services.keys import allows
from skillhub.services.limits import PUBLICATIONS, READS, WRITES

READ, RECORD, PROPOSE, PUBLISH, ADMIN = "read", "record", "propose", "publish", "admin"
OPEN = "open"
"""Without a key."""

NEEDED = {
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    # what an agent, a trainer and a page read
    "GET /v1/candidates": READ,
    "GET /v1/candidates/{candidate_id}": READ,
    "GET /v1/episodes": READ,
    "GET /v1/episodes/{episode_id}": READ,
    "GET /v1/events": READ,
    "GET /v1/contexts": READ,
    "GET /v1/contexts/{context_id}": READ,
    "GET /v1/decisions": READ,
    "GET /v1/exports/ndjson": READ,
    "GET /v1/exports/zip": READ,
    "GET /v1/gates": READ,
    "GET /v1/gates/{gate_id}": READ,
    "GET /v1/gates/{gate_id}/replay": READ,
    "GET /v1/gates/{gate_id}/trials": READ,
    "GET /v1/jobs": READ,
    "GET /v1/jobs/{job_id}": READ,
    "GET /v1/skills": READ,
    "GET /v1/skills/{name}": READ,
    "GET /v1/skills/{name}/branches": READ,
    "GET /v1/skills/{name}/branches/{branch}": READ,
    "GET /v1/skills/{name}/diff": READ,
    "GET /v1/skills/{name}/export": READ,
    "GET /v1/skills/{name}/labels/{label}": READ,
    "GET /v1/skills/{name}/labels/{label}/history": READ,
    "GET /v1/skills/{name}/lineage": READ,
    "GET /v1/skills/{name}/versions": READ,
    "GET /v1/skills/{name}/versions/{number}": READ,
    "GET /v1/skills/{name}/versions/{number}/blame": READ,
    "GET /v1/optimisations": READ,
    "GET /v1/optimisations/{optimisation_id}": READ,
    "GET /v1/optimisations/{optimisation_id}/asked": READ,
    "GET /v1/optimisations/{optimisation_id}/steps": READ,
    "GET /v1/schedules": READ,
    "GET /v1/schedules/{name}": READ,
    "GET /v1/skills/{name}/labels": READ,
    "GET /v1/suites": READ,
    "GET /v1/suites/{name}": READ,
    "GET /v1/suites/{name}/cases": READ,
    "GET /v1/versions/{version_id}/descendants": READ,
    "GET /v1/workspace": READ,
    "GET /v1/audit/head": READ,
    "GET /v1/audit/verify": READ,
    "POST /v1/contexts": READ,
    "POST /v1/labels/query": READ,
    "POST /v1/search": READ,
    "POST /v1/ui-sessions": READ,
    "POST /v1/versions/query": READ,
    # what happened
    "POST /v1/episodes/batch": RECORD,
    "POST /v1/trials/lease": RECORD,
    "POST /v1/trials/{trial_id}/fail": RECORD,
    "POST /v1/trials/{trial_id}/finish": RECORD,
    "POST /v1/trials/{trial_id}/heartbeat": RECORD,
    # what might become a version, if the gate lets it
    "POST /v1/candidates": PROPOSE,
    "POST /v1/candidates/{candidate_id}/gate": PROPOSE,
    "POST /v1/curation/extract": PROPOSE,
    "POST /v1/jobs/retry": PROPOSE,
    "POST /v1/optimisations": PROPOSE,
    "POST /v1/optimisations/{optimisation_id}/cancel": PROPOSE,
    "POST /v1/optimisations/{optimisation_id}/proposals": PROPOSE,
    "POST /v1/jobs/{job_id}/cancel": PROPOSE,
    "POST /v1/jobs/{job_id}/retry": PROPOSE,
    "POST /v1/skills/{name}/branches": PROPOSE,
    "POST /v1/skills/{name}/branches/{branch}/candidates": PROPOSE,
    "POST /v1/skills/{name}/branches/{branch}/close": PROPOSE,
    "POST /v1/skills/{name}/branches/{branch}/merge": PROPOSE,
    # what agents are shown from now on, and what the gate measures by
    "POST /v1/imports/ndjson": PUBLISH,
    "POST /v1/imports/zip": PUBLISH,
    "DELETE /v1/skills/{name}/labels/{label}": PUBLISH,
    "POST /v1/publications": PUBLISH,
    "POST /v1/skills": PUBLISH,
    "POST /v1/skills/{name}/merge": PUBLISH,
    "POST /v1/skills/retire": PUBLISH,
    "POST /v1/skills/{name}/quarantine": PUBLISH,
    "POST /v1/skills/{name}/release": PUBLISH,
    "POST /v1/skills/{name}/retire": PUBLISH,
    "POST /v1/skills/{name}/versions/{number}/quarantine": PUBLISH,
    "POST /v1/skills/{name}/versions/{number}/release": PUBLISH,
    "POST /v1/skills/{name}/rollback": PUBLISH,
    "POST /v1/skills/{name}/versions": PUBLISH,
    "PUT /v1/skills/{name}/labels/{label}": PUBLISH,
    "PUT /v1/suites/{name}": PUBLISH,
    # who may do all this, and what the hub does by itself
    "GET /v1/keys": ADMIN,
    "POST /v1/keys": ADMIN,
    "DELETE /v1/keys/{key_id}": ADMIN,
    "POST /v1/keys/{key_id}/rotate": ADMIN,
    "DELETE /v1/schedules/{name}": ADMIN,
    "GET /v1/webhooks": ADMIN,
    "POST /v1/webhooks": ADMIN,
    "GET /v1/webhooks/{webhook_id}": ADMIN,
    "PATCH /v1/webhooks/{webhook_id}": ADMIN,
    "DELETE /v1/webhooks/{webhook_id}": ADMIN,
    "GET /v1/webhooks/{webhook_id}/deliveries": ADMIN,
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": ADMIN,
    "POST /v1/webhooks/{webhook_id}/rotate": ADMIN,
    "POST /v1/webhooks/{webhook_id}/test": ADMIN,
    "PUT /v1/schedules/{name}": ADMIN,
}

COUNTED = {READ: READS, RECORD: WRITES, PROPOSE: WRITES, PUBLISH: PUBLICATIONS, ADMIN: PUBLICATIONS}
"""Role an operation needs -> which of a key's limits it counts against."""


def needed(route: APIRoute, method: str) -> str:
    """The role an operation needs; LookupError for one that is not in the table."""
    return NEEDED[f"{method} {route.path_format}"]


def check(role: str, needed: str) -> None:
    """Forbidden where a key of `role` may not do what needs `needed`; says nothing about what is there."""
    if not allows(role, needed):
        raise Forbidden(f"this key has the role {role}; the role {needed} is needed")


def check_complete(routers: Iterable[APIRouter]) -> None:
    """LookupError where the table and the operations of these routers differ."""
    routes = [route for router in routers for route in router.routes if route.include_in_schema]
    stated = {f"{method} {route.path_format}" for route in routes for method in route.methods}
    if missing := sorted(stated ^ NEEDED.keys()):
        raise LookupError(f"api/roles.py and the routes differ in {', '.join(missing)}")
