"""Screening trials: leased and reported like those of a gate, but what they show is a draft, and they decide nothing."""

from collections.abc import Sequence
from dataclasses import replace

from skillhub.errors import Conflict, NotFound
from skillhub.models import Optimisation, ScreeningTrial, Skill, Trial
from skillhub.models.base import now
from skillhub.rollouts.ingest import EpisodeInput
from skillhub.services.episodes import ingest_in
from skillhub.services.gates import OPTIMISATION_JOB
from skillhub.services.scope import Scope, Unit
from skillhub.store import clock, leases, suites
from skillhub.store import optimisations as rows

PREFIX = "scr"


def is_one(trial_id: str) -> bool:
    """Whether this is the id of a screening trial."""
    return trial_id.startswith(f"{PREFIX}_")


def lease_in(
    unit: Unit, *, suite_ids: Sequence[str] | None, runner: str, limit: int, lease_seconds: float
) -> list[tuple[ScreeningTrial, tuple[str, str, str]]]:
    """Waiting screening trials, each with `(skill, kind, document)` that it shows."""
    ids = rows.waiting(unit.session, workspace_id=unit.workspace_id, suite_ids=suite_ids, limit=limit)
    leased = leases.claim(unit.session, ScreeningTrial, ids, runner=runner, lease_seconds=lease_seconds)
    documents = rows.documents(unit.session, leased)
    return [(trial, (*_skill_in(unit, trial), documents[trial.id])) for trial in leased]


def finish(scope: Scope, trial_id: str, *, lease_token: str, score: float, episode: EpisodeInput | None) -> ScreeningTrial:
    """Store the score, and the episode for curation to learn from. Sending the same again changes nothing.

    Errors: NotFound; Conflict where the lease was lost.
    """
    with scope.transaction() as unit:
        trial = _lock_in(unit, trial_id)
        if trial.state == "finished" and trial.lease_token == lease_token and trial.score == score:
            return trial
        check_lease(trial, lease_token)
        if episode is not None:
            case = suites.cases_by_id(unit.session, {trial.case_id})[trial.case_id]
            recorded = replace(episode, slice=case.slice, split=case.split, exposures=())
            trial.episode_id = ingest_in(unit, [recorded], path="/episode")[0].id
        trial.score = float(score)
        _end_in(unit, trial, "finished")
        return trial


def fail(scope: Scope, trial_id: str, *, lease_token: str, error: str, max_attempts: int) -> ScreeningTrial:
    """Give a trial back because its run broke; after `max_attempts` it says nothing about its draft.

    Errors: NotFound; Conflict where the lease was lost.
    """
    with scope.transaction() as unit:
        trial = _lock_in(unit, trial_id)
        check_lease(trial, lease_token)
        _give_back_in(unit, trial, error=error, max_attempts=max_attempts)
        return trial


def expire(scope: Scope, trial_id: str, max_attempts: int) -> bool:
    """Give back a trial whose lease ran out; False where someone else did, or it lives."""
    with scope.transaction() as unit:
        trial = _lock_in(unit, trial_id)
        if trial.state != "leased" or trial.lease_expires_at >= clock.now(unit.session):
            return False
        _give_back_in(unit, trial, error=f"no sign of life from runner {trial.runner!r}", max_attempts=max_attempts)
        return True


def check_lease(trial: Trial | ScreeningTrial, lease_token: str) -> None:
    if trial.state != "leased" or trial.lease_token != lease_token:
        raise lost(trial.id)


def lost(trial_id: str) -> Conflict:
    return Conflict(f"the lease on trial {trial_id} is no longer yours", code="lease_lost")


def _give_back_in(unit: Unit, trial: ScreeningTrial, *, error: str, max_attempts: int) -> None:
    trial.error, trial.lease_token = error, None
    if trial.attempt >= max_attempts:
        _end_in(unit, trial, "failed")
        return
    running = rows.get(unit.session, trial.optimisation_id).state == "running"
    trial.state, trial.lease_expires_at = "pending" if running else "cancelled", None
    unit.session.add(trial)
    unit.session.flush()


def _end_in(unit: Unit, trial: ScreeningTrial, state: str) -> None:
    """The trial is over; the last one of its step wakes the search."""
    search = rows.lock(unit.session, trial.optimisation_id)
    trial.state, trial.finished_at, trial.lease_expires_at = state, now(), None
    search.spent += 1
    unit.session.add_all([trial, search])
    unit.session.flush()
    if search.state == "running" and not rows.unfinished(unit.session, search.id, trial.position):
        unit.enqueue(OPTIMISATION_JOB, optimisation_id=search.id)


def _lock_in(unit: Unit, trial_id: str) -> ScreeningTrial:
    """The search's row, then the trial's: one order of locks."""
    trial = unit.session.get(ScreeningTrial, trial_id)
    if trial is None:
        raise NotFound(f"there is no trial {trial_id!r}")
    rows.lock(unit.session, trial.optimisation_id)
    return leases.lock(unit.session, ScreeningTrial, trial_id)


def _skill_in(unit: Unit, trial: ScreeningTrial) -> tuple[str, str]:
    skill = unit.session.get(Skill, unit.session.get(Optimisation, trial.optimisation_id).skill_id)
    return skill.name, skill.kind
