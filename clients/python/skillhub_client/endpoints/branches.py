"""Calls about branches: named lines of candidates on a skill."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, given, part, plain_list
from skillhub_client.transport import Call


def create_branch(skill: str, name: str, *, base: int | None = None) -> Call[m.Branch]:
    """A branch from version `base`, else from what is in production. Conflict where the name is taken."""
    return Call("POST", _path(skill), as_(m.Branch), json=given({"name": name, "base": base}))


def list_branches(
    skill: str, *, state: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Branch]]:
    """One page of the branches of a skill, newest first."""
    params = {"state": state, "cursor": cursor, "limit": limit}
    return Call("GET", _path(skill), as_(m.Page[m.Branch]), params=params)


def get_branch(skill: str, name: str) -> Call[m.Branch]:
    """Where a branch starts, and the newest candidate on it."""
    return Call("GET", _path(skill, name), as_(m.Branch))


def propose_on_branch(
    skill: str,
    name: str,
    document: str | None = None,
    *,
    head: str | None,
    target_slice: str,
    proposer: str,
    operations: Sequence[Mapping[str, Any]] | None = None,
    rationale: str = "",
    evidence: Iterable[m.EvidenceIn | Mapping[str, Any]] = (),
) -> Call[m.Candidate]:
    """The next candidate on a branch: a whole document, or edit operations against that of the head.

    `head` is the id of the newest candidate you have read, None before the first; Conflict where it is another by now.
    """
    body = {"document": document, "target_slice": target_slice, "proposer": proposer, "operations": operations}
    body |= {"head": head, "rationale": rationale, "evidence": plain_list(evidence)}
    return Call("POST", f"{_path(skill, name)}/candidates", as_(m.Candidate), json=given(body))


def merge_branch(skill: str, name: str, *, proposer: str, rationale: str = "") -> Call[m.Candidate]:
    """The head put together with what is in production now: a candidate for the gate. Conflict names what contradicts."""
    body = {"proposer": proposer, "rationale": rationale}
    return Call("POST", f"{_path(skill, name)}/merge", as_(m.Candidate), json=body)


def close_branch(skill: str, name: str) -> Call[m.Branch]:
    """No more candidates on this branch."""
    return Call("POST", f"{_path(skill, name)}/close", as_(m.Branch))


def _path(skill: str, name: str | None = None) -> str:
    path = f"/v1/skills/{part(skill)}/branches"
    return path if name is None else f"{path}/{part(name)}"
