"""Runs the gate's trials where the environment lives: lease, play, report. A crash is reported, never hidden."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from skillhub_client.client import Client
from skillhub_client.errors import Conflict, Invalid, NotFound, SkillhubError
from skillhub_client.models import TrialLease, TrialResult

log = logging.getLogger("skillhub_client.evaluate")

Play = Callable[[TrialLease], TrialResult]
ERROR_LENGTH = 2000
LONGEST_PAUSE_SECONDS = 30.0
MOST_DOUBLINGS = 16


@dataclass
class Tally:
    """How the trials of one `run_trials` ended."""

    finished: int = 0
    failed: int = 0
    """`play` raised, or its result was refused."""
    lost: int = 0
    """The lease ran out or the gate was decided before the report."""

    @property
    def played(self) -> int:
        return self.finished + self.failed + self.lost


def run_trials(
    client: Client,
    play: Play,
    *,
    runner: str,
    until: Callable[[], bool] | None = None,
    limit: int | None = None,
    suites: list[str] | None = None,
    poll_seconds: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
) -> Tally:
    """Play trials one at a time until `until()` says so, `limit` were played, or, without `until`, none waits.

    With `until`, a server that has no trial right now is asked again after `poll_seconds`. After failures in a row the pause
    doubles, so that a short outage of the environment does not use up the attempts of a trial.
    """
    tally, failures = Tally(), 0
    while (limit is None or tally.played < limit) and not (until and until()):
        leased = client.lease_trials(runner=runner, limit=1, suites=suites)
        if leased:
            before = tally.failed
            run_trial(client, play, leased[0], tally)
            failures = failures + 1 if tally.failed > before else 0
            if failures:
                sleep(_pause(failures, poll_seconds))
        elif until is None:
            break
        else:
            sleep(poll_seconds)
    return tally


def _pause(failures: int, poll_seconds: float) -> float:
    """Doubled for each failure in a row, up to a bound."""
    return min(LONGEST_PAUSE_SECONDS, poll_seconds * 2.0 ** min(failures, MOST_DOUBLINGS))


def run_trial(client: Client, play: Play, trial: TrialLease, tally: Tally) -> None:
    """Play one leased trial and report its score, or what broke."""
    try:
        with heartbeat(client, trial):
            result = play(trial)
        client.finish_trial(trial.id, lease_token=trial.lease_token, score=result.score, episode=result.episode)
        tally.finished += 1
    except (Conflict, NotFound) as error:
        log.warning("trial %s is no longer ours: %s", trial.id, error)
        tally.lost += 1
    except Exception as error:
        _report(client, trial, error, tally)
    except BaseException as error:  # Ctrl-C: give the trial back at once, then stop
        _report(client, trial, error, tally)
        raise


@contextmanager
def heartbeat(client: Client, trial: TrialLease) -> Iterator[None]:
    """Keeps the lease alive from a thread, three signs of life per lease."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(trial.lease_seconds / 3):
            try:
                client.heartbeat_trial(trial.id, lease_token=trial.lease_token)
            except (Conflict, NotFound):
                return
            except SkillhubError as error:
                log.warning("no sign of life for trial %s: %s", trial.id, error)

    thread = threading.Thread(target=beat, name=f"heartbeat-{trial.id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _report(client: Client, trial: TrialLease, error: BaseException, tally: Tally) -> None:
    """Tell the server that the run broke. Errors of the network and of the key go up: they are not the trial's fault."""
    if isinstance(error, SkillhubError) and not isinstance(error, Invalid):
        raise error
    log.warning("trial %s broke", trial.id, exc_info=error)
    text = f"{type(error).__name__}: {error}"[:ERROR_LENGTH]
    try:
        client.fail_trial(trial.id, lease_token=trial.lease_token, error=text)
        tally.failed += 1
    except (Conflict, NotFound):
        tally.lost += 1
