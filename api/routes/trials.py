"""Trials as leased work: the machine that owns the environment pulls them."""

from fastapi import APIRouter, Request, Response

from api.deps import ScopeDep
from api.schemas.trials import FailIn, FinishIn, HeartbeatIn, LeasedTrialOut, LeasedTrialsOut, LeaseIn, TrialOut
from skillhub.services import trials

router = APIRouter(prefix="/v1/trials", tags=["trials"])


@router.post("/lease")
def lease(body: LeaseIn, scope: ScopeDep, request: Request) -> LeasedTrialsOut:
    """Claim waiting trials; empty where none waits. A lease that shows no sign of life goes to someone else."""
    settings = request.app.state.settings
    leased = trials.lease(
        scope,
        runner=body.runner,
        limit=body.limit,
        suite_names=body.suites,
        lease_seconds=settings.lease_seconds,
        max_attempts=settings.max_attempts,
    )
    return LeasedTrialsOut(trials=[LeasedTrialOut.of(one, lease_seconds=settings.lease_seconds) for one in leased])


@router.post("/{trial_id}/heartbeat", status_code=204)
def heartbeat(trial_id: str, body: HeartbeatIn, scope: ScopeDep, request: Request) -> Response:
    """A sign of life. 409 where the lease was lost: stop the run."""
    seconds = request.app.state.settings.lease_seconds
    trials.heartbeat(scope, trial_id, lease_token=body.lease_token, lease_seconds=seconds)
    return Response(status_code=204)


@router.post("/{trial_id}/finish")
def finish(trial_id: str, body: FinishIn, scope: ScopeDep) -> TrialOut:
    """Report a score in [0, 1] and the episode behind it; safe to send again. 409 where the lease was lost."""
    episode = body.episode.value() if body.episode else None
    return TrialOut.of(trials.finish(scope, trial_id, lease_token=body.lease_token, score=body.score, episode=episode))


@router.post("/{trial_id}/fail")
def fail(trial_id: str, body: FailIn, scope: ScopeDep, request: Request) -> TrialOut:
    """Report that the run broke. It is tried again; in the end the decision is `error`, never a score of 0."""
    attempts = request.app.state.settings.max_attempts
    return TrialOut.of(trials.fail(scope, trial_id, lease_token=body.lease_token, error=body.error, max_attempts=attempts))
