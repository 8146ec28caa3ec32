"""Trials as leased work: claim, sign of life, finish or fail. A lost lease can change nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.gate.decide import check_score
from skillhub.models import Case, Gate, Trial
from skillhub.models.base import now
from skillhub.rollouts.ingest import EpisodeInput, ExposureInput
from skillhub.services import gates
from skillhub.services.episodes import ingest_in
from skillhub.services.scope import Scope, Unit
from skillhub.store import candidates, clock, events, suites, trials, versions
from skillhub.store import gates as gate_rows
from skillhub.store.session import Database


@dataclass(frozen=True)
class Shown:
    """A document of an arm: a published version or the candidate under test."""

    skill_name: str
    kind: str
    version_id: str | None
    candidate_id: str | None
    document: str


@dataclass(frozen=True)
class LeasedTrial:
    """A run to be made: a case under one arm, with the documents that arm shows."""

    trial: Trial
    case: Case
    documents: Sequence[Shown]
    """None on the base arm of a new skill without companions."""


@dataclass(frozen=True)
class TrialView:
    """A trial after its run, and where its gate stands."""

    trial: Trial
    gate: Gate


def lease(
    scope: Scope, *, runner: str, limit: int, suite_names: Sequence[str] | None, lease_seconds: float, max_attempts: int
) -> list[LeasedTrial]:
    """Claim up to `limit` waiting trials; leases that ran out are given back first. NotFound for an unknown suite."""
    expire(scope.database, workspace_id=scope.workspace_id, max_attempts=max_attempts)
    with scope.transaction() as unit:
        leased = trials.lease(
            unit.session,
            workspace_id=unit.workspace_id,
            suite_ids=_suite_ids(unit, suite_names),
            runner=runner,
            limit=limit,
            lease_seconds=lease_seconds,
        )
        cases = suites.cases_by_id(unit.session, {trial.case_id for trial in leased})
        return [_leased(unit, trial, cases[trial.case_id]) for trial in leased]


def heartbeat(scope: Scope, trial_id: str, *, lease_token: str, lease_seconds: float) -> None:
    """Prolong a lease; Conflict where it is no longer the caller's."""
    with scope.transaction() as unit:
        if trials.get(unit.session, trial_id) is None:
            raise NotFound(f"there is no trial {trial_id!r}")
        if not trials.extend(unit.session, trial_id=trial_id, lease_token=lease_token, lease_seconds=lease_seconds):
            raise _lost(trial_id)


def finish(scope: Scope, trial_id: str, *, lease_token: str, score: float, episode: EpisodeInput | None = None) -> TrialView:
    """Store a score in [0, 1], the episode behind it, and what follows for the gate, in one transaction.

    Sending the same token and score again changes nothing. Errors: NotFound; Invalid; Conflict where the lease was lost.
    """
    check_score(score, trial_id=trial_id)
    if episode is not None and episode.score != score:
        why = f"the trial's score is {score!r}, its episode's score {episode.score!r}: they must be the same"
        raise Invalid(why, path="/episode/score")
    with scope.transaction() as unit:
        gate, trial = _lock(unit, trial_id)
        if trial.state == "finished" and trial.lease_token == lease_token and trial.score == score:
            return TrialView(trial, gate)
        _check_lease(trial, lease_token)
        trial.state, trial.score, trial.finished_at, trial.lease_expires_at = "finished", float(score), now(), None
        if episode is not None:
            trial.episode_id = ingest_in(unit, [_as_recorded(unit, episode, trial, gate)], path="/episode")[0].id
        unit.session.add(trial)
        unit.session.flush()
        unit.record("trial.finished", trial.id, gate_id=gate.id, pair=trial.pair, arm=trial.arm, score=trial.score)
        if gate.state == "open":
            gates.advance_in(unit, gate)
        return TrialView(trial, gate)


def fail(scope: Scope, trial_id: str, *, lease_token: str, error: str, max_attempts: int) -> TrialView:
    """Give a trial back because its run broke; after `max_attempts` the gate's decision is `error`. Never a score of 0.

    Errors: NotFound; Conflict where the lease was lost.
    """
    with scope.transaction() as unit:
        gate, trial = _lock(unit, trial_id)
        _check_lease(trial, lease_token)
        _give_back_in(unit, gate, trial, error=error, max_attempts=max_attempts)
        return TrialView(trial, gate)


def expire(database: Database, *, max_attempts: int, workspace_id: str | None = None) -> int:
    """Give back every trial whose lease ran out, each in a transaction of its own; returns how many."""
    with database.system_transaction() as session:
        found = trials.expired(session, workspace_id=workspace_id)
    return sum(_expire(Scope(database, owner, "system"), trial_id, max_attempts) for owner, trial_id in found)


def _expire(scope: Scope, trial_id: str, max_attempts: int) -> bool:
    with scope.transaction() as unit:
        gate, trial = _lock(unit, trial_id)
        if trial.state != "leased" or trial.lease_expires_at >= clock.now(unit.session):
            return False
        why = f"no sign of life from runner {trial.runner!r}"
        _give_back_in(unit, gate, trial, error=why, max_attempts=max_attempts)
        return True


def _give_back_in(unit: Unit, gate: Gate, trial: Trial, *, error: str, max_attempts: int) -> None:
    final = trial.attempt >= max_attempts
    trial.state = "cancelled" if gate.state != "open" else "failed" if final else "pending"
    trial.error, trial.lease_token, trial.lease_expires_at = error, None, None
    unit.session.add(trial)
    unit.session.flush()
    unit.record("trial.failed", trial.id, gate_id=gate.id, attempt=trial.attempt, error=error, state=trial.state)
    if trial.state == "failed":
        gates.advance_in(unit, gate)


def _lock(unit: Unit, trial_id: str) -> tuple[Gate, Trial]:
    """The gate's row, the trial's row and the log, always in this order, so that no two of us wait for each other."""
    trial = trials.get(unit.session, trial_id)
    if trial is None:
        raise NotFound(f"there is no trial {trial_id!r}")
    gate = gate_rows.lock(unit.session, trial.gate_id)
    locked = trials.lock(unit.session, trial_id)
    events.lock(unit.session, unit.workspace_id)
    return gate, locked


def _check_lease(trial: Trial, lease_token: str) -> None:
    if trial.state != "leased" or trial.lease_token != lease_token:
        raise _lost(trial.id)


def _lost(trial_id: str) -> Conflict:
    return Conflict(f"the lease on trial {trial_id} is no longer yours", code="lease_lost")


def _as_recorded(unit: Unit, episode: EpisodeInput, trial: Trial, gate: Gate) -> EpisodeInput:
    """The episode with what we know better than its runner: case, split (a proposer must not see it) and what was shown."""
    case = suites.cases_by_id(unit.session, {trial.case_id})[trial.case_id]
    exposures = tuple(
        ExposureInput(version_id=shown.version_id, candidate_id=shown.candidate_id, rank=rank, score=1.0)
        for rank, shown in enumerate(_shown(unit, trial, gate), start=1)
    )
    return replace(episode, trial_id=trial.id, slice=case.slice, split=case.split, exposures=exposures)


def _suite_ids(unit: Unit, names: Sequence[str] | None) -> list[str] | None:
    if names is None:
        return None
    known = suites.ids_by_name(unit.session, workspace_id=unit.workspace_id, names=names)
    for name in names:
        if name not in known:
            raise NotFound(f"there is no suite {name!r}")
    return list(known.values())


def _leased(unit: Unit, trial: Trial, case: Case) -> LeasedTrial:
    return LeasedTrial(trial, case, _shown(unit, trial, gate_rows.get(unit.session, trial.gate_id)))


def _shown(unit: Unit, trial: Trial, gate: Gate) -> list[Shown]:
    """What the arm shows: the one under test first, then its companions."""
    base = [gate.base_version_id] if gate.base_version_id and trial.arm == "base" else []
    published = [
        Shown(served.skill.name, served.skill.kind, served.version.id, None, served.version.document)
        for served in versions.with_skill(unit.session, [*base, *gate.companions])
    ]
    if trial.arm == "base":
        return published
    candidate = candidates.get(unit.session, gate.candidate_id)
    return [Shown(candidate.skill_name, candidate.kind, None, candidate.id, candidate.document), *published]
