"""Running trials against a hub that keeps score of what it was told."""

import threading

import pytest
from skillhub_client import Conflict, Invalid, TrialLease, TrialResult, Unavailable
from skillhub_client.evaluate import _pause, run_trials


class FakeHub:
    """Stands for a `Client`: hands out trials and keeps the reports."""

    def __init__(self, *, trials: int = 1, lease_seconds: float = 60.0) -> None:
        self.waiting = [lease(number, lease_seconds) for number in range(trials)]
        self.finished: dict[str, float] = {}
        self.failed: dict[str, str] = {}
        self.beats = threading.Semaphore(0)
        self.refusal: Exception | None = None

    def lease_trials(self, *, runner: str, limit: int, suites: list[str] | None) -> list[TrialLease]:
        return [self.waiting.pop(0)] if self.waiting else []

    def heartbeat_trial(self, id: str, *, lease_token: str) -> None:
        self.beats.release()

    def finish_trial(self, id: str, *, lease_token: str, score: float, episode: object) -> None:
        if self.refusal:
            raise self.refusal
        self.finished[id] = score

    def fail_trial(self, id: str, *, lease_token: str, error: str) -> None:
        self.failed[id] = error


def lease(number: int, lease_seconds: float) -> TrialLease:
    return TrialLease(
        id=f"trl_{number}", lease_token="t", lease_seconds=lease_seconds, gate_id="gat_1", pair=number, arm="base", seed=1,
        case={"key": "c", "slice": "s", "spec": {}},
    )  # fmt: skip


def half(trial: TrialLease) -> TrialResult:
    return TrialResult(score=0.5)


def test_all_waiting_trials_are_played_and_reported() -> None:
    hub = FakeHub(trials=3)
    assert run_trials(hub, half, runner="r").finished == 3
    assert hub.finished == {"trl_0": 0.5, "trl_1": 0.5, "trl_2": 0.5}


def test_a_crash_of_play_is_reported_and_the_next_trial_is_played() -> None:
    hub = FakeHub(trials=2)

    def play(trial: TrialLease) -> TrialResult:
        if trial.id == "trl_0":
            raise ZeroDivisionError("no water")
        return TrialResult(score=1.0)

    tally = run_trials(hub, play, runner="r")
    assert (tally.finished, tally.failed) == (1, 1)
    assert hub.failed == {"trl_0": "ZeroDivisionError: no water"}


def test_a_refused_result_is_reported_as_a_failure_not_dropped() -> None:
    hub = FakeHub()
    hub.refusal = Invalid("score out of range", problem={})
    assert run_trials(hub, half, runner="r").failed == 1
    assert "out of range" in hub.failed["trl_0"]


def test_a_lost_lease_is_counted_and_not_reported_as_a_failure() -> None:
    hub = FakeHub()
    hub.refusal = Conflict("lease expired", problem={})
    assert run_trials(hub, half, runner="r").lost == 1
    assert hub.failed == {}


def test_a_hub_that_is_away_stops_the_run_and_blames_no_trial() -> None:
    hub = FakeHub()
    hub.refusal = Unavailable("away", problem={})
    with pytest.raises(Unavailable):
        run_trials(hub, half, runner="r")
    assert hub.failed == {}


def test_an_interrupted_trial_is_given_back() -> None:
    hub = FakeHub()

    def play(trial: TrialLease) -> TrialResult:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(hub, play, runner="r")
    assert hub.failed == {"trl_0": "KeyboardInterrupt: "}


def test_the_lease_is_kept_alive_while_play_goes_on() -> None:
    hub = FakeHub(lease_seconds=0.03)

    def play(trial: TrialLease) -> TrialResult:
        assert hub.beats.acquire(timeout=10)
        assert hub.beats.acquire(timeout=10)
        return TrialResult(score=1.0)

    assert run_trials(hub, play, runner="r").finished == 1


def test_no_sign_of_life_comes_after_the_report() -> None:
    hub = FakeHub(lease_seconds=0.03)
    before = threading.active_count()
    run_trials(hub, half, runner="r")
    assert threading.active_count() == before


def test_limit_and_until_stop_the_run() -> None:
    hub = FakeHub(trials=5)
    assert run_trials(hub, half, runner="r", limit=2).played == 2
    assert run_trials(hub, half, runner="r", until=lambda: len(hub.finished) == 3).played == 1


def test_failures_in_a_row_make_the_runner_wait_longer_and_a_success_ends_that() -> None:
    pauses: list[float] = []

    def play(trial: TrialLease) -> TrialResult:
        if trial.id != "trl_3":
            raise ConnectionError("the environment is away")
        return TrialResult(score=1.0)

    run_trials(FakeHub(trials=5), play, runner="r", poll_seconds=1.0, sleep=pauses.append)
    assert pauses == [2.0, 4.0, 8.0, 2.0]


def test_the_pause_has_a_bound_however_long_the_outage() -> None:
    assert [_pause(failures, 0.5) for failures in (1, 2, 3, 10, 5000)] == [1.0, 2.0, 4.0, 30.0, 30.0]
