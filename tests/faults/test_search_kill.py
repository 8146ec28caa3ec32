"""Kill -9 of the worker in the middle of a search: it goes on from its journal, and no trial is paid twice."""

import random
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace

import sqlalchemy as sa

from skillhub.config import Settings
from skillhub.optimise.asks import Proposal
from skillhub.services import optimisations, skills, trials
from skillhub.services.scope import Scope
from tests.db.test_optimisations import HELP, NAME, begin, kitchen, paid, play
from tests.faults.conftest import until
from workers.app import announcer

__all__ = ["kitchen"]  # the fixture
SEED, KILLS = 11, 3


def step(scope: Scope, search: str) -> bool:
    """Play what waits, answer what is asked; whether anything was to be done, or the search is over."""
    view = optimisations.get(scope, search)
    if view.waits_for == "propose":
        optimisations.answer(scope, search, [Proposal("add", "", ("fry",), HELP)])
        return True
    leased = trials.lease(scope, runner="r", limit=2, suite_names=None, lease_seconds=60, max_attempts=3)
    for one in leased:
        trials.finish(scope, one.trial.id, lease_token=one.trial.lease_token, score=play(one))
    return bool(leased) or view.optimisation.state != "running"


def test_a_search_whose_worker_is_killed_pays_for_no_trial_twice(
    kitchen: Scope, settings: Settings, start_worker: Callable[..., subprocess.Popen]
) -> None:
    kitchen = replace(kitchen, announce=announcer(settings))
    chance, search, worker, kills, steps = random.Random(SEED), begin(kitchen), start_worker(), 0, 0
    while optimisations.get(kitchen, search).optimisation.state == "running":
        until(lambda: step(kitchen, search), why="the search goes on")
        steps += 1
        if kills < KILLS and chance.random() < 0.2:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            worker, kills = start_worker(), kills + 1
    view = optimisations.get(kitchen, search)
    doubled = "SELECT count(*) FROM (SELECT 1 FROM screening_trial GROUP BY position, pair HAVING count(*) > 1) AS twice"
    with kitchen.transaction() as unit:
        twice = unit.session.execute(sa.text(doubled)).scalar_one()
    print(f"\nseed {SEED}: {kills} kills in {steps} steps, {view.optimisation.spent} trials, {twice} paid twice")
    assert (view.optimisation.state, kills, twice) == ("finished", KILLS, 0)
    assert view.optimisation.spent == paid(kitchen)
    assert skills.get(kitchen, NAME).labels["production"] == 2
