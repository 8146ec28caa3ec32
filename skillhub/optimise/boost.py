"""SkillBoost with a screen: repairs are tried on a few trials each, those that seem good are stacked, and the stack goes
through the gate as one candidate.

One proof of improvement and one proof of no loss then serve many repairs, where a proof for each would cost the budget
several times over. A stack that the gate refuses is taken apart: each repair is screened again by itself, harder.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from skillhub.errors import Invalid, MergeConflict
from skillhub.hashing import sha256_bytes
from skillhub.optimise.asks import Answer, Ask, Commit, Probe, Proposal, Propose, Search
from skillhub.optimise.belief import Belief
from skillhub.optimise.policy import SearchPolicy


def boost(base: str, cases: Mapping[str, Sequence[str]], *, budget: int, policy: SearchPolicy, seed: int) -> Search:
    """Optimise `base` on the slices of `cases` (slice -> keys of the screening split) within `budget` trials.

    Errors: Invalid for a budget that does not pay for one repair.
    """
    if budget < (least := policy.least_budget(len(cases))):
        raise Invalid(f"a budget of {budget} trials is too small: {len(cases)} slices need at least {least}", path="/budget")
    state = _Boost(base, cases, budget, policy, seed)
    yield from state.survey()
    for _ in range(policy.rounds):
        if state.stack and (state.is_time_to_commit() or not state.weak()):
            yield from state.put_through()
        elif not state.weak() or not state.can_screen() or not (yield from state.extend()):
            break
    if state.stack:
        yield from state.put_through()
    return state.base


@dataclass
class _Boost:
    """The state of one search."""

    base: str
    cases: Mapping[str, Sequence[str]]
    left: int
    """Trials that may still be paid."""
    policy: SearchPolicy
    seed: int
    stack: list[Proposal] = field(default_factory=list)
    """Repairs that passed the screen, in order; the draft is the base with them."""
    before: dict[str, Belief] = field(default_factory=dict)
    """Of the base, by slice."""
    anchor: Belief = field(default_factory=Belief)
    """Of the base on the strong slices together."""
    strong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draft, self.turn = self.base, 0
        self.beliefs = {name: Belief() for name in self.cases}

    def survey(self) -> Generator[Ask, Answer, None]:
        """Where the base stands: a few trials of each slice, more on those it does well."""
        for name in self.cases:
            yield from self.learn(name, self.policy.survey)
        for name in (strong := self.strong_now()):
            yield from self.learn(name, self.policy.anchor // len(strong))
        self.strong = self.strong_now()
        self.anchor = Belief.of(self.beliefs[name] for name in self.strong)
        self.before = dict(self.beliefs)

    def learn(self, name: str, count: int) -> Generator[Ask, Answer, None]:
        self.beliefs[name] = self.beliefs[name].after((yield from self.probe(self.base, [name], count)))

    def strong_now(self) -> list[str]:
        return [name for name, belief in self.beliefs.items() if belief.mean >= self.policy.weak]

    def probe(self, document: str, slices: Sequence[str], count: int) -> Generator[Ask, Answer, Sequence[float | None]]:
        names = [slices[at % len(slices)] for at in range(count)]
        self.left -= count
        return (yield Probe(document, tuple(map(self.drawn, names))))

    def drawn(self, name: str) -> str:
        """A case of the slice, by chance that depends on seed and turn alone."""
        self.turn += 1
        number = int(sha256_bytes(f"{self.seed}/{self.turn}".encode())[:16], 16)
        return self.cases[name][number % len(self.cases[name])]

    def weak(self) -> list[str]:
        return [name for name, belief in self.beliefs.items() if belief.mean < self.policy.weak]

    def can_screen(self) -> bool:
        return self.left >= self.policy.screen_trials

    def is_time_to_commit(self) -> bool:
        return self.left < self.policy.commit_trials + self.policy.screen_trials

    def extend(self) -> Generator[Ask, Answer, bool]:
        """Ask for repairs of the draft and stack those that pass the screen; False where there are none any more."""
        failures = {name: round(10 * (1.0 - self.beliefs[name].mean)) for name in self.weak()}
        proposals = yield Propose(self.draft, failures, self.policy.candidates)
        for proposal in proposals:
            yield from self.screen(proposal)
        return bool(proposals)

    def screen(self, proposal: Proposal) -> Generator[Ask, Answer, None]:
        document = _onto(proposal, self.draft)
        if document is None or document == self.draft or not self.can_screen():
            return
        targets = [name for name in proposal.targets if name in self.cases]
        seen = yield from self.improves(document, targets)
        if seen is None or not (yield from self.spares(document, self.policy.keep, self.policy.strong_trials)):
            return
        self.draft, self.stack = document, [*self.stack, proposal]
        self.beliefs |= dict.fromkeys(targets, seen)

    def improves(self, document: str, targets: Sequence[str]) -> Generator[Ask, Answer, Belief | None]:
        """What is believed of the repair on its targets; None where it does not seem to help."""
        known = Belief.of(self.beliefs[name] for name in targets)
        found = Belief()
        for _ in range(self.policy.target_trials):
            found = found.after((yield from self.probe(document, targets, 1)))
            helps = found.exceeds(known, by=self.policy.gain)
            if helps >= self.policy.keep:
                return found
            if found.trials >= 2 and helps <= 1.0 - self.policy.keep:
                return None
        return found if found.exceeds(known, by=self.policy.gain) >= 0.5 else None

    def spares(self, document: str, sure: float, most: int) -> Generator[Ask, Answer, bool]:
        """Whether the strong slices seem to be left alone."""
        found = Belief()
        for _ in range(most // 2 if self.strong else 0):
            found = found.after((yield from self.probe(document, self.strong, 2)))
            spared = found.exceeds(self.anchor, by=-self.policy.loss)
            if spared >= sure or spared <= 1.0 - sure:
                return spared >= sure
        return not self.strong or found.exceeds(self.anchor, by=-self.policy.loss) >= 0.5

    def put_through(self) -> Generator[Ask, Answer, None]:
        """The stack through the gate; where it is refused, what passes a harder screen by itself is tried once more."""
        accepted = yield from self.passes_gate()
        if not accepted and len(self.stack) > 1:
            yield from self.take_apart()
            accepted = yield from self.passes_gate()
        if accepted:
            self.base, self.before = self.draft, dict(self.beliefs)
        else:
            self.draft, self.beliefs = self.base, dict(self.before)
        self.stack = []

    def passes_gate(self) -> Generator[Ask, Answer, bool]:
        if not self.stack or self.left < self.policy.least_commit:
            return False
        target = tuple(dict.fromkeys(name for proposal in self.stack for name in proposal.targets))
        protected = tuple(name for name in self.strong if name not in target)
        trials = min(self.left, self.policy.commit_trials)
        ruling = yield Commit(self.draft, tuple(self.stack), target, protected, trials)
        self.left -= ruling.trials
        return ruling.verdict == "accepted"

    def take_apart(self) -> Generator[Ask, Answer, None]:
        """Keep the repairs that spare the strong slices by themselves, on the base."""
        kept, self.draft = [], self.base
        for proposal in self.stack:
            alone, more = _onto(proposal, self.base), _onto(proposal, self.draft)
            if alone is None or more is None or not self.can_screen():
                continue
            if (yield from self.spares(alone, 0.99, self.policy.strong_trials)):
                kept, self.draft = [*kept, proposal], more
        self.stack = kept


def _onto(proposal: Proposal, document: str) -> str | None:
    """None where the repair does not fit the document."""
    try:
        return proposal.onto(document)
    except (Invalid, MergeConflict):
        return None
