"""Calls about optimisations: searches for a better version of a skill."""

from collections.abc import Iterable, Mapping
from typing import Any

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, given, part, plain_list
from skillhub_client.transport import Call

PATH = "/v1/optimisations"


def start_optimisation(
    skill: str,
    *,
    suite: str,
    budget: int,
    proposer: str,
    seed: int = 0,
    policy: Mapping[str, Any] | None = None,
    gate_policy: Mapping[str, Any] | None = None,
) -> Call[m.Optimisation]:
    """Begin a search on a budget of trials; its trials are played by `run_trials`, like those of gates."""
    body = {"skill": skill, "suite": suite, "budget": budget, "proposer": proposer, "seed": seed}
    return Call("POST", PATH, as_(m.Optimisation), json=given(body | {"policy": policy, "gate_policy": gate_policy}))


def list_optimisations(
    *, state: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Optimisation]]:
    """One page of searches, newest first."""
    return Call("GET", PATH, as_(m.Page[m.Optimisation]), params={"state": state, "cursor": cursor, "limit": limit})


def get_optimisation(id: str) -> Call[m.Optimisation]:
    """How far a search is, and what it waits for."""
    return Call("GET", f"{PATH}/{part(id)}", as_(m.Optimisation))


def list_optimisation_steps(
    id: str, *, kind: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.OptimisationStep]]:
    """One page of the journal of a search."""
    params = {"kind": kind, "cursor": cursor, "limit": limit}
    return Call("GET", f"{PATH}/{part(id)}/steps", as_(m.Page[m.OptimisationStep]), params=params)


def get_asked(id: str) -> Call[m.Asked]:
    """The document that repairs are asked for, and where it fails. Conflict while the search waits for something else."""
    return Call("GET", f"{PATH}/{part(id)}/asked", as_(m.Asked))


def answer_with_proposals(id: str, proposals: Iterable[Mapping[str, Any]]) -> Call[m.Optimisation]:
    """Repairs `{targets, operations, document, operator, rationale}` for what is asked; none ends the search."""
    return Call("POST", f"{PATH}/{part(id)}/proposals", as_(m.Optimisation), json={"proposals": plain_list(proposals)})


def cancel_optimisation(id: str) -> Call[m.Optimisation]:
    """End a search; what it committed stays."""
    return Call("POST", f"{PATH}/{part(id)}/cancel", as_(m.Optimisation))
