"""A search asks the same again when it is answered the same, pays within its budget, and commits only what the gate accepts."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillhub.errors import Invalid, MergeConflict
from skillhub.optimise.asks import Answer, Ask, Commit, Probe, Proposal, Propose, Ruling
from skillhub.optimise.belief import Belief
from skillhub.optimise.boost import boost
from skillhub.optimise.policy import SearchPolicy

BASE = "---\nname: cook\ndescription: Cooks.\n---\n\n## Steps\n\nHeat it.\n"
CASES = {name: [f"{name}/{i}" for i in range(20)] for name in ("boil", "fry", "bake")}
GOOD, BAD = "Watch it.", "Walk away."


class Kitchen:
    """Boiling is known; frying and baking need `GOOD` for them; `BAD` spoils boiling."""

    def __init__(self, seed: int, proposed: Sequence[str] = (f"fry {GOOD}", f"bake {GOOD}")) -> None:
        self.chance, self.proposed = random.Random(seed), list(proposed)
        self.base, self.paid, self.asked, self.committed = BASE, 0, [], []

    def score(self, document: str, name: str) -> float:
        known = BAD not in document if name == "boil" else f"{name} {GOOD}" in document
        self.paid += 1
        return float(self.chance.random() < (0.95 if known else 0.1))

    def answer(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        match ask:
            case Probe():
                return [self.score(ask.document, case.partition("/")[0]) for case in ask.cases]
            case Propose():
                return [proposal(text) for text in (self.proposed.pop(0) for _ in range(min(1, len(self.proposed))))]
            case Commit():
                pairs = [
                    (self.score(self.base, n), self.score(ask.document, n)) for n in (ask.target + sum(ask.protected, ())) * 4
                ]
                better = sum(new for _, new in pairs) > sum(old for old, _ in pairs) and BAD not in ask.document
                self.base = ask.document if better else self.base
                self.committed.append([each.operations[0]["text"] for each in ask.proposals])
                return Ruling("accepted" if better else "rejected", "", 2 * len(pairs))


def proposal(text: str) -> Proposal:
    name = text.partition(" ")[0]
    return Proposal("add", "", (name,), ({"op": "add", "anchor": "steps", "text": text},))


def run(answer: Callable[[Ask], Answer], *, budget: int = 1000, seed: int = 0, **policy: object) -> str:
    search = boost(BASE, CASES, budget=budget, policy=SearchPolicy(**policy), seed=seed)
    ask = next(search)
    while True:
        try:
            ask = search.send(answer(ask))
        except StopIteration as end:
            return end.value


def test_repairs_that_help_are_stacked_and_committed_as_one() -> None:
    kitchen = Kitchen(1)
    final = run(kitchen.answer)
    assert (final, kitchen.committed) == (kitchen.base, [[f"fry {GOOD}", f"bake {GOOD}"]])
    assert f"fry {GOOD}" in final and f"bake {GOOD}" in final


def test_a_repair_that_helps_and_spoils_what_works_is_screened_out() -> None:
    kitchen = Kitchen(2, [f"fry {GOOD} {BAD}", f"bake {GOOD}"])
    assert BAD not in run(kitchen.answer)
    assert kitchen.committed == [[f"bake {GOOD}"]]


def test_what_the_gate_refuses_is_not_kept() -> None:
    kitchen = Kitchen(3)
    final = run(lambda ask: Ruling("rejected", "", 10) if isinstance(ask, Commit) else kitchen.answer(ask))
    assert final == BASE


def test_a_proposal_that_does_not_fit_is_passed_over() -> None:
    kitchen = Kitchen(4)
    misfit = Proposal("add", "", ("fry",), ({"op": "add", "anchor": "nowhere", "text": "x"},))

    def answer(ask: Ask) -> Answer:
        return [misfit, *kitchen.answer(ask)] if isinstance(ask, Propose) else kitchen.answer(ask)

    assert f"fry {GOOD}" in run(answer)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(280, 1200))
def test_a_search_never_pays_more_than_its_budget(seed: int, budget: int) -> None:
    kitchen = Kitchen(seed, [f"fry {GOOD} {BAD}", "fry nothing", f"bake {GOOD}", f"fry {GOOD}"])
    run(kitchen.answer, budget=budget, seed=seed)
    assert kitchen.paid <= budget


def test_a_budget_that_pays_for_nothing_is_refused_before_the_first_trial() -> None:
    with pytest.raises(Invalid, match="too small: 3 slices need at least"):
        run(Kitchen(0).answer, budget=100)


def test_a_search_that_was_cut_off_anywhere_goes_on_from_its_journal_without_paying_twice() -> None:
    kitchen = Kitchen(5)
    journal: list[Answer] = []

    def journalled(ask: Ask) -> Answer:
        journal.append(kitchen.answer(ask))
        return journal[-1]

    final = run(journalled)
    for cut in range(0, len(journal), 7):
        known, asked = iter(journal), []
        again = run(lambda ask, known=known, asked=asked: asked.append(ask) or next(known))
        assert (again, asked[: cut + 1]) == (final, kitchen.asked[: cut + 1])


def test_trials_that_could_not_be_run_say_nothing() -> None:
    kitchen = Kitchen(6)

    def answer(ask: Ask) -> Answer:
        found = kitchen.answer(ask)
        return [None if kitchen.chance.random() < 0.1 else score for score in found] if isinstance(ask, Probe) else found

    assert f"fry {GOOD}" in run(answer)


def test_an_environment_that_never_runs_ends_the_search_within_its_budget() -> None:
    kitchen, paid = Kitchen(7), []

    def answer(ask: Ask) -> Answer:
        if isinstance(ask, Probe):
            paid.extend(ask.cases)
            return [None] * len(ask.cases)
        return kitchen.answer(ask)

    assert run(answer) == BASE
    assert len(paid) <= 1000


def test_a_slice_that_a_repair_targets_is_not_protected_by_the_same_gate() -> None:
    kitchen = Kitchen(8)

    def answer(ask: Ask) -> Answer:
        if isinstance(ask, Commit):
            assert not set(ask.target) & set(sum(ask.protected, ()))
        found = kitchen.answer(ask)
        return [replace(each, targets=(*each.targets, "boil")) for each in found] if isinstance(ask, Propose) else found

    run(answer)
    assert kitchen.asked


def test_each_strong_slice_is_proven_unharmed_and_what_was_repaired_is_guarded_from_then_on() -> None:
    kitchen = Kitchen(9)
    run(kitchen.answer, budget=1500, commit_trials=1400)  # it is time to commit from the first repair on
    commits = [ask for ask in kitchen.asked if isinstance(ask, Commit)]
    assert [(ask.target, ask.protected) for ask in commits] == [
        (("fry",), (("boil",),)),
        (("bake",), (("boil",), ("fry",))),
    ]


def test_beliefs_are_compared_as_their_means_lie() -> None:
    low, high = Belief().after([0.0, 0.0, 1.0, 0.0]), Belief().after([1.0] * 9 + [0.0])
    assert high.exceeds(low, by=0.0) > 0.95 > 0.05 > low.exceeds(high, by=0.0)
    assert Belief().after([None, 0.5]) == Belief(0.5, 0.5)
    assert Belief.of([low, high]) == Belief(10.0, 4.0)


def test_a_whole_document_is_laid_onto_a_draft_by_three_way_merge() -> None:
    whole = Proposal("refine", "", ("fry",), document=BASE.replace("Heat it.", "Heat it well."), base=BASE)
    draft = BASE + "\n## Notes\n\nHot.\n"
    assert whole.onto(draft) == draft.replace("Heat it.", "Heat it well.")
    with pytest.raises(MergeConflict):
        whole.onto(BASE.replace("Heat it.", "Heat it long."))
