"""Trials as leased work: claim, sign of life, finish or fail. A lost lease can change nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillhub.errors import Invalid, NotFound
from skillhub.gate.decide import check_score
from skillhub.models import Case, Gate, ScreeningTrial, Trial
from skillhub.models.base import now
from skillhub.rollouts.ingest import EpisodeInput, ExposureInput
from skillhub.services import gates, screening
from skillhub.services.episodes import ingest_in
from skillhub.services.scope import Scope, Unit
from skillhub.services.screening import check_lease, lost
from skillhub.store import candidates, clock, events, leases, suites, trials, versions
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
    """A run to be made: a case under one arm of a gate or with a draft of a search, and the documents to show."""

    trial: Trial | ScreeningTrial
    case: Case
    documents: Sequence[Shown]
    """None on the base arm of a new skill without companions."""


@dataclass(frozen=True)
class TrialView:
    """A trial after its run, and where its gate stands; None where it was for screening."""

    trial: Trial | ScreeningTrial
    gate: Gate | None


def lease(
    scope: Scope, *, runner: str, limit: int, suite_names: Sequence[str] | None, lease_seconds: float, max_attempts: int
) -> list[LeasedTrial]:
    """Claim up to `limit` waiting trials, those of gates before those of the screen; leases that ran out are given back first.

    NotFound for an unknown suite.
    """
    expire(scope.database, workspace_id=scope.workspace_id, max_attempts=max_attempts)
    with scope.transaction() as unit:
        facts = {"suite_ids": _suite_ids(unit, suite_names), "runner": runner, "lease_seconds": lease_seconds}
        leased = trials.lease(unit.session, workspace_id=unit.workspace_id, limit=limit, **facts)
        screened = screening.lease_in(unit, limit=limit - len(leased), **facts)
        cases = suites.cases_by_id(unit.session, {trial.case_id for trial in [*leased, *(trial for trial, _ in screened)]})
        found = [_leased(unit, trial, cases[trial.case_id]) for trial in leased]
        return found + [LeasedTrial(trial, cases[trial.case_id], [_draft(*shown)]) for trial, shown in screened]


def heartbeat(scope: Scope, trial_id: str, *, lease_token: str, lease_seconds: float) -> None:
    """Prolong a lease; Conflict where it is no longer the caller's."""
    table = ScreeningTrial if screening.is_one(trial_id) else Trial
    with scope.transaction() as unit:
        if unit.session.get(table, trial_id) is None:
            raise NotFound(f"there is no trial {trial_id!r}")
        held = {"trial_id": trial_id, "lease_token": lease_token, "lease_seconds": lease_seconds}
        if not leases.extend(unit.session, table, **held):
            raise lost(trial_id)


def finish(scope: Scope, trial_id: str, *, lease_token: str, score: float, episode: EpisodeInput | None = None) -> TrialView:
    """Store a score in [0, 1], the episode behind it, and what follows for the gate, in one transaction.

    Sending the same token and score again changes nothing. Errors: NotFound; Invalid; Conflict where the lease was lost.
    """
    check_score(score, trial_id=trial_id)
    if episode is not None and episode.score != score:
        why = f"the trial's score is {score!r}, its episode's score {episode.score!r}: they must be the same"
        raise Invalid(why, path="/episode/score")
    if screening.is_one(trial_id):
        return TrialView(screening.finish(scope, trial_id, lease_token=lease_token, score=score, episode=episode), None)
    with scope.transaction() as unit:
        gate, trial = _lock(unit, trial_id)
        if trial.state == "finished" and trial.lease_token == lease_token and trial.score == score:
            return TrialView(trial, gate)
        check_lease(trial, lease_token)
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
    if screening.is_one(trial_id):
        facts = {"lease_token": lease_token, "error": error, "max_attempts": max_attempts}
        return TrialView(screening.fail(scope, trial_id, **facts), None)
    with scope.transaction() as unit:
        gate, trial = _lock(unit, trial_id)
        check_lease(trial, lease_token)
        _give_back_in(unit, gate, trial, error=error, max_attempts=max_attempts)
        return TrialView(trial, gate)


def expire(database: Database, *, max_attempts: int, workspace_id: str | None = None) -> int:
    """Give back every trial whose lease ran out, each in a transaction of its own; returns how many."""
    with database.system_transaction() as session:
        found = leases.expired(session, Trial, workspace_id=workspace_id)
        screened = leases.expired(session, ScreeningTrial, workspace_id=workspace_id)
    gated = sum(_expire(Scope(database, owner, "system"), trial_id, max_attempts) for owner, trial_id in found)
    return gated + sum(screening.expire(Scope(database, owner, "system"), id_, max_attempts) for owner, id_ in screened)


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
    locked = leases.lock(unit.session, Trial, trial_id)
    events.lock(unit.session, unit.workspace_id)
    return gate, locked


def _as_recorded(unit: Unit, episode: EpisodeInput, trial: Trial, gate: Gate) -> EpisodeInput:
    """The episode with what we know better than its runner: case, split (a proposer must not see it) and what was shown."""
    case = suites.cases_by_id(unit.session, {trial.case_id})[trial.case_id]
    exposures = tuple(
        ExposureInput(version_id=shown.version_id, candidate_id=shown.candidate_id, rank=rank, score=1.0)
        for rank, shown in enumerate(_shown(unit, trial, gate), start=1)
    )
    return replace(episode, trial_id=trial.id, slice=case.slice, split=case.split, exposures=exposures)


def _draft(skill_name: str, kind: str, document: str) -> Shown:
    return Shown(skill_name, kind, None, None, document)


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
