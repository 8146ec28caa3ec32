"""Calls about suites, candidates, gates, trials and jobs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, as_nothing, given, part, plain, plain_list, strings
from skillhub_client.transport import Call


def put_suite(name: str, cases: Iterable[m.CaseIn | Mapping[str, Any]]) -> Call[m.Suite]:
    """Store a suite or add cases to it. Conflict where a stored case would change or vanish."""
    return Call("PUT", f"/v1/suites/{part(name)}", as_(m.Suite), json={"cases": plain_list(cases)})


def list_suites(
    *, prefix: str | None = None, sort: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Suite]]:
    """One page of suites by name."""
    params = {"prefix": prefix, "sort": sort, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/suites", as_(m.Page[m.Suite]), params=params)


def get_suite(name: str) -> Call[m.Suite]:
    """A suite and how many cases it has."""
    return Call("GET", f"/v1/suites/{part(name)}", as_(m.Suite))


def list_cases(
    name: str, *, split: str | None = None, slice: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Case]]:
    """One page of the cases of a suite, by key."""
    params = {"split": split, "slice": slice, "cursor": cursor, "limit": limit}
    return Call("GET", f"/v1/suites/{part(name)}/cases", as_(m.Page[m.Case]), params=params)


def list_gates(
    *, state: str | None = None, suite: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Gate]]:
    """One page of gates as they were registered, newest first."""
    params = {"state": state, "suite": suite, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/gates", as_(m.Page[m.Gate]), params=params)


def list_gate_trials(
    id: str, *, state: str | None = None, arm: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.GateTrial]]:
    """One page of the trials of a gate."""
    params = {"state": state, "arm": arm, "cursor": cursor, "limit": limit}
    return Call("GET", f"/v1/gates/{part(id)}/trials", as_(m.Page[m.GateTrial]), params=params)


def list_decisions(
    *, verdict: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Decision]]:
    """One page of decisions, newest first."""
    params = {"verdict": verdict, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/decisions", as_(m.Page[m.Decision]), params=params)


def extract(slices: Sequence[str], *, split: str = "train") -> Call[m.JobList]:
    """Ask the workers to draw candidates from the episodes of these slices; a job's result has `candidate_ids`."""
    body = {"slices": strings(slices), "split": split}
    return Call("POST", "/v1/curation/extract", as_(m.JobList), json=body)


def get_job(id: str) -> Call[m.Job]:
    """State, progress and result of a job."""
    return Call("GET", f"/v1/jobs/{part(id)}", as_(m.Job))


def list_jobs(
    *, state: str | None = None, kind: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Job]]:
    """One page of jobs, newest first."""
    params = {"state": state, "kind": kind, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/jobs", as_(m.Page[m.Job]), params=params)


def propose(
    skill_name: str,
    document: str | None = None,
    *,
    target_slice: str,
    proposer: str,
    kind: str = "skill",
    base: int | None = None,
    operations: Sequence[Mapping[str, Any]] | None = None,
    rationale: str = "",
    evidence: Iterable[m.EvidenceIn | Mapping[str, Any]] = (),
) -> Call[m.Candidate]:
    """A candidate: a whole document, or edit operations, for the next version after number `base`, or for a new skill."""
    body = {
        "skill_name": skill_name,
        "document": document,
        "target_slice": target_slice,
        "proposer": proposer,
        "kind": kind,
        "base": base,
        "operations": operations,
        "rationale": rationale,
        "evidence": plain_list(evidence),
    }
    return Call("POST", "/v1/candidates", as_(m.Candidate), json=given(body))


def list_candidates(
    *, state: str | None = None, slice: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Candidate]]:
    """One page of candidates."""
    params = {"state": state, "slice": slice, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/candidates", as_(m.Page[m.Candidate]), params=params)


def get_candidate(id: str) -> Call[m.Candidate]:
    """A candidate with its evidence and, once decided, the decision."""
    return Call("GET", f"/v1/candidates/{part(id)}", as_(m.Candidate))


def open_gate(
    candidate_id: str,
    *,
    suite: str,
    split: str = "dev",
    target_slice: str | None = None,
    protected_slices: Sequence[str] | None = None,
    companions: Sequence[str] | None = None,
    policy: Mapping[str, Any] | None = None,
) -> Call[m.Gate]:
    """Register the acceptance test of a candidate, before its first trial; both arms show `companions` as well."""
    body = {
        "suite": suite,
        "split": split,
        "target_slice": target_slice,
        "protected_slices": strings(protected_slices),
        "companions": strings(companions),
        "policy": policy,
    }
    return Call("POST", f"/v1/candidates/{part(candidate_id)}/gate", as_(m.Gate), json=given(body))


def get_gate(id: str) -> Call[m.Gate]:
    """The registration, the numbers so far, and the decision once there is one."""
    return Call("GET", f"/v1/gates/{part(id)}", as_(m.Gate))


def replay_gate(id: str) -> Call[m.Replay]:
    """Decide once more from the stored trials. Conflict while the gate is open."""
    return Call("GET", f"/v1/gates/{part(id)}/replay", as_(m.Replay))


def lease_trials(*, runner: str, limit: int = 1, suites: Sequence[str] | None = None) -> Call[list[m.TrialLease]]:
    """Claim up to `limit` waiting trials; empty where none waits."""
    read = as_(m.LeasedTrials)
    body = {"runner": runner, "limit": limit, "suites": strings(suites)}
    return Call("POST", "/v1/trials/lease", lambda response: read(response).trials, json=given(body))


def heartbeat_trial(id: str, *, lease_token: str) -> Call[None]:
    """Keep a lease alive. Conflict where it is no longer yours."""
    return Call("POST", f"/v1/trials/{part(id)}/heartbeat", as_nothing, json={"lease_token": lease_token})


def finish_trial(
    id: str, *, lease_token: str, score: float, episode: m.EpisodeIn | Mapping[str, Any] | None = None
) -> Call[m.Trial]:
    """Report a score in [0, 1], with the episode where it was recorded. Conflict where the lease is no longer yours."""
    body = {"lease_token": lease_token, "score": score, "episode": plain(episode)}
    return Call("POST", f"/v1/trials/{part(id)}/finish", as_(m.Trial), json=given(body))


def fail_trial(id: str, *, lease_token: str, error: str) -> Call[m.Trial]:
    """Report that a run broke; it is tried again or, in the end, makes the decision an `error`. Never a score of 0."""
    body = {"lease_token": lease_token, "error": error}
    return Call("POST", f"/v1/trials/{part(id)}/fail", as_(m.Trial), json=body)
