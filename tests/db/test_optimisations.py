"""A search over the real store: its trials are leased, its journal survives, and only the gate changes production."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from skillhub.config import Settings
from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.evaluation.cases import CaseInput
from skillhub.optimise.asks import Proposal
from skillhub.services import jobs, optimisations, searching, skills, suites, trials, versions
from skillhub.services.optimisations import OptimisationView
from skillhub.services.scope import Scope
from skillhub.services.trials import LeasedTrial
from skillhub.store import suites as suite_rows

NAME = "cook"
SLICES = ("boil", "fry")
DOCUMENT = f"---\nname: {NAME}\ndescription: Cooks.\n---\n\n## Steps\n\nHeat it.\n"
POLICY = {"survey": 2, "survey_most": 2, "anchor": 4, "target_trials": 4, "guard_trials": 6, "commit_trials": 200, "keep": 0.6}
HELP = ({"op": "add", "anchor": "steps", "text": "Stir what fries."},)
SETTINGS = Settings(database_url="", lease_seconds=60)


@pytest.fixture
def kitchen(scope: Scope) -> Scope:
    """A skill that boils and does not fry, and a suite of both."""
    versions.create(scope, name=NAME, kind="skill", document=DOCUMENT)
    cases = [
        CaseInput(key=f"{slice}-{split}-{i}", split=split, slice=slice, spec={"of": [slice, split, i]})
        for slice in SLICES
        for split, count in (("train", 4), ("dev", 40))
        for i in range(count)
    ]
    suites.put(scope, name="kitchen", cases=cases)
    return scope


def begin(scope: Scope, *, budget: int = 400, **facts: object) -> str:
    given = {"skill": NAME, "suite": "kitchen", "proposer": "tests", "policy": POLICY, "budget": budget} | facts
    return optimisations.start(scope, **given).optimisation.id


def play(leased: LeasedTrial) -> float:
    document = "".join(shown.document for shown in leased.documents)
    return float(leased.case.slice == "boil" or "Stir" in document)


def work(scope: Scope, search: str, *, score: Callable[[LeasedTrial], float] = play, most: int = 10_000) -> OptimisationView:
    """Run jobs and trials until the search waits for proposals, is over, or `most` trials were run."""
    done = 0
    while True:
        for job_id in waiting_jobs(scope):
            claim = jobs.claim(scope.database, job_id, settings=SETTINGS)
            searching.advance(claim)
        view = optimisations.get(scope, search)
        if done >= most:
            return view
        limit = min(8, most - done)
        leased = trials.lease(scope, runner="r", limit=limit, suite_names=None, lease_seconds=60, max_attempts=3)
        if not leased:
            return view
        for one in leased:
            trials.finish(scope, one.trial.id, lease_token=one.trial.lease_token, score=score(one))
            done += 1


def waiting_jobs(scope: Scope) -> list[str]:
    with scope.transaction() as unit:
        return unit.session.execute(sa.text("SELECT id FROM job WHERE state = 'queued' ORDER BY id")).scalars().all()


def paid(scope: Scope) -> int:
    with scope.transaction() as unit:
        counts = [f"SELECT count(*) FROM {table} WHERE state = 'finished'" for table in ("screening_trial", "trial")]
        return sum(unit.session.execute(sa.text(count)).scalar_one() for count in counts)


def test_a_search_asks_screens_and_commits_through_the_gate(kitchen: Scope) -> None:
    search = begin(kitchen)
    waiting = work(kitchen, search)
    assert (waiting.waits_for, waiting.optimisation.state) == ("propose", "running")
    asked = optimisations.asked(kitchen, search)
    assert (asked.document, list(asked.failures)) == (DOCUMENT, ["fry"])
    optimisations.answer(kitchen, search, [Proposal("add", "It burns.", ("fry",), HELP)])
    view = work(kitchen, search)
    assert (view.optimisation.state, view.base.number) == ("finished", 2), view.optimisation.reason
    assert skills.get(kitchen, NAME).labels["production"] == 2
    assert "Stir what fries." in skills.get(kitchen, NAME).latest.version.document
    assert view.optimisation.spent == paid(kitchen) <= 400
    kinds = [step.kind for step in optimisations.steps(kitchen, optimisation_id=search)]
    assert (kinds.count("propose"), kinds.count("commit")) == (1, 1)


def test_a_repair_that_does_nothing_is_screened_out_and_no_proposal_ends_the_search(kitchen: Scope) -> None:
    search = begin(kitchen)
    work(kitchen, search)
    optimisations.answer(kitchen, search, [Proposal("add", "", ("fry",), ({"op": "add", "anchor": "steps", "text": "Sing."},))])
    assert work(kitchen, search).waits_for == "propose"
    optimisations.answer(kitchen, search, [])
    assert work(kitchen, search).optimisation.state == "finished"
    assert skills.get(kitchen, NAME).labels == {"latest": 1, "production": 1}


def test_a_worker_that_dies_at_any_point_costs_no_trial_twice(kitchen: Scope) -> None:
    """The job is run again after each single trial, and twice: what is known is played from the journal."""
    search = begin(kitchen)
    while (view := work(kitchen, search, most=1)).optimisation.state == "running":
        with kitchen.transaction() as unit:
            unit.enqueue("optimisation.advance", optimisation_id=search)
            unit.enqueue("optimisation.advance", optimisation_id=search)
        if view.waits_for == "propose":
            optimisations.answer(kitchen, search, [Proposal("add", "", ("fry",), HELP)])
    assert (view.optimisation.state, view.base.number) == ("finished", 2)
    with kitchen.transaction() as unit:
        doubled = "SELECT count(*) FROM (SELECT 1 FROM screening_trial GROUP BY position, pair HAVING count(*) > 1) AS twice"
        assert unit.session.execute(sa.text(doubled)).scalar_one() == 0
    assert view.optimisation.spent == paid(kitchen)


def test_trials_that_break_for_good_say_nothing_and_are_not_scored(kitchen: Scope) -> None:
    search = begin(kitchen)
    for job_id in waiting_jobs(kitchen):
        searching.advance(jobs.claim(kitchen.database, job_id, settings=SETTINGS))
    for _ in range(3):
        for one in trials.lease(kitchen, runner="r", limit=8, suite_names=None, lease_seconds=60, max_attempts=3):
            trials.fail(kitchen, one.trial.id, lease_token=one.trial.lease_token, error="no stove", max_attempts=3)
    assert work(kitchen, search).waits_for == "propose"
    first = optimisations.steps(kitchen, optimisation_id=search)[0]
    assert first.answer == {"value": [None] * 4}


def test_a_cancelled_search_asks_nothing_more(kitchen: Scope) -> None:
    search = begin(kitchen)
    work(kitchen, search, most=1)
    assert optimisations.cancel(kitchen, search).optimisation.state == "cancelled"
    assert optimisations.cancel(kitchen, search).optimisation.state == "cancelled"
    assert trials.lease(kitchen, runner="r", limit=8, suite_names=None, lease_seconds=60, max_attempts=3) == []
    with pytest.raises(Conflict, match="is cancelled"):
        optimisations.asked(kitchen, search)


def test_production_that_moves_under_a_search_ends_it_before_its_gate(kitchen: Scope) -> None:
    search = begin(kitchen)
    work(kitchen, search)
    versions.publish(kitchen, name=NAME, document=DOCUMENT + "\nMore.\n", label="production")
    optimisations.answer(kitchen, search, [Proposal("add", "", ("fry",), HELP)])
    view = work(kitchen, search)
    assert (view.optimisation.state, "moved to version 2" in view.optimisation.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"budget": 10}, "too small"),
        ({"policy": {"x": 1}}, "no such constant"),
        ({"policy": {"survey": 0}}, "not in"),
        ({"policy": {"survey": 1.5}}, "not in"),
    ],
)
def test_what_cannot_be_searched_is_refused_at_once(kitchen: Scope, facts: dict, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        begin(kitchen, **facts)


def test_what_is_not_there_is_not_found(kitchen: Scope) -> None:
    for facts in ({"skill": "none"}, {"suite": "none"}):
        with pytest.raises(NotFound):
            begin(kitchen, **facts)
    for call in (optimisations.get, optimisations.asked, optimisations.cancel):
        with pytest.raises(NotFound):
            call(kitchen, "opt_none")


@pytest.mark.parametrize(
    ("proposal", "path"),
    [
        (Proposal("add", "", ("fry",), ({"op": "add", "anchor": "none", "text": "x"},)), "/proposals/1/operations/0/anchor"),
        (Proposal("add", "", ("bake",), HELP), "/proposals/1/targets"),
        (Proposal("add", "", ("fry",), document="no document", base=DOCUMENT), "/proposals/1/document/frontmatter"),
        (Proposal("add", "", ("fry",), ({"op": "add", "anchor": "steps", "text": "Sti\u200br."},)), "/proposals/1/document"),
    ],
)
def test_a_proposal_that_does_not_fit_is_refused_with_its_place(kitchen: Scope, proposal: Proposal, path: str) -> None:
    search = begin(kitchen)
    work(kitchen, search)
    with pytest.raises(Invalid) as caught:
        optimisations.answer(kitchen, search, [Proposal("add", "", ("fry",), HELP), proposal])
    assert caught.value.errors[0]["path"] == path
    assert optimisations.get(kitchen, search).waits_for == "propose"


def test_cases_that_come_to_the_suite_later_change_nothing_of_a_search(kitchen: Scope) -> None:
    search = begin(kitchen)
    work(kitchen, search, most=2)
    stored = [CaseInput(**case.model_dump(include={"key", "split", "slice", "spec"})) for case in all_cases(kitchen)]
    suites.put(kitchen, name="kitchen", cases=[*stored, CaseInput(key="new", split="train", slice="new", spec={"of": "new"})])
    work(kitchen, search)
    assert list(optimisations.asked(kitchen, search).failures) == ["fry"]


def all_cases(scope: Scope) -> list:
    with scope.transaction() as unit:
        return suite_rows.cases(unit.session, suites.get_in(unit, "kitchen").id)
