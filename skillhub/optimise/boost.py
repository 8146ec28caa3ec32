"""SkillBoost with a screen: repairs are tried on a few trials each, those that seem good are stacked, and the stack goes
through the gate as one candidate.

One proof of improvement and one proof of no loss for each guarded slice then serve many repairs, where proofs for each would
cost the budget several times over. A stack that the gate refuses is taken apart: each repair is screened again, harder.
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


@dataclass(frozen=True)
class Repair:
    """A proposal that passed the screen, and what is believed of the guards with it alone."""

    proposal: Proposal
    spared: Mapping[str, Belief]


@dataclass
class _Boost:
    """The state of one search."""

    base: str
    cases: Mapping[str, Sequence[str]]
    left: int
    """Trials that may still be paid."""
    policy: SearchPolicy
    seed: int
    stack: list[Repair] = field(default_factory=list)
    """Repairs in order; the draft is the base with them."""
    before: dict[str, Belief] = field(default_factory=dict)
    """Of the base, by slice."""
    guards: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What must not be damaged: slices that are watched as one, by the name of the first."""

    def __post_init__(self) -> None:
        self.draft, self.turn = self.base, 0
        self.beliefs = {name: Belief() for name in self.cases}

    def survey(self) -> Generator[Ask, Answer, None]:
        """Where the base stands: a few trials of each slice, more where they leave doubt and on those it does well."""
        yield from self.learn(list(self.cases), self.policy.survey)
        for _ in range(self.policy.survey, self.policy.survey_most, 2):
            yield from self.learn([name for name in self.cases if self.in_doubt(self.beliefs[name])], 2)
        strong = self.strong()
        yield from self.learn(strong, self.policy.anchor // max(1, len(strong)))
        self.guards = {name: (name,) for name in self.strong()}
        self.before = dict(self.beliefs)

    def in_doubt(self, belief: Belief) -> bool:
        """Whether more trials should say if the slice is weak."""
        return 1.0 - self.policy.survey_sure < belief.below(self.policy.weak) < self.policy.survey_sure

    def learn(self, names: Sequence[str], each: int) -> Generator[Ask, Answer, None]:
        found = yield from self.probe(self.base, dict.fromkeys(names, each))
        self.beliefs |= {name: self.beliefs[name].after(scores) for name, scores in found.items()}

    def strong(self) -> list[str]:
        return [name for name, belief in self.beliefs.items() if belief.mean >= self.policy.strong]

    def weak(self) -> list[str]:
        return [name for name, belief in self.beliefs.items() if belief.mean < self.policy.weak]

    def probe(self, document: str, counts: Mapping[str, int]) -> Generator[Ask, Answer, dict[str, list[float | None]]]:
        """So many trials of each slice."""
        names = [name for name, count in counts.items() for _ in range(count)]
        self.left -= len(names)
        scores = iter((yield Probe(document, tuple(map(self.drawn, names)))) if names else ())
        return {name: [next(scores) for _ in range(count)] for name, count in counts.items()}

    def drawn(self, name: str) -> str:
        """A case of the slice, by chance that depends on seed and turn alone."""
        self.turn += 1
        number = int(sha256_bytes(f"{self.seed}/{self.turn}".encode())[:16], 16)
        return self.cases[name][number % len(self.cases[name])]

    def can_screen(self) -> bool:
        return self.left >= self.policy.screen_trials

    def is_time_to_commit(self) -> bool:
        return self.left < self.commit_trials() + self.policy.screen_trials

    def commit_trials(self) -> int:
        """More where many guards have to be proven unharmed."""
        return max(self.policy.commit_trials, self.policy.proof_trials * (1 + len(self.guards)))

    def extend(self) -> Generator[Ask, Answer, bool]:
        """Ask for repairs of the draft and stack those that pass the screen; False where there are none any more."""
        failures = {name: round(10 * (1.0 - self.beliefs[name].mean)) for name in self.weak()}
        proposals = yield Propose(self.draft, failures, self.policy.candidates)
        for proposal in proposals:
            yield from self.screen(proposal)
        return bool(proposals)

    def screen(self, proposal: Proposal) -> Generator[Ask, Answer, None]:
        """Whether it helps is seen on the draft, what it damages on the base: there nothing else is to blame."""
        document = _onto(proposal, self.draft)
        if document is None or document == self.draft or not self.can_screen():
            return
        seen = yield from self.improves(document, self.targets(proposal), self.beliefs)
        if seen is None:
            return
        alone = _onto(proposal, self.base) or document
        spared = yield from self.spares(alone, self.policy.spared, {name: Belief() for name in self.guards})
        if spared is not None:
            self.draft, self.stack = document, [*self.stack, Repair(proposal, spared)]
            self.beliefs |= dict.fromkeys(self.targets(proposal), seen)

    def targets(self, proposal: Proposal) -> list[str]:
        return [name for name in proposal.targets if name in self.cases]

    def improves(
        self, document: str, targets: Sequence[str], before: Mapping[str, Belief]
    ) -> Generator[Ask, Answer, Belief | None]:
        """What is believed of the repair on its targets; None where it does not seem to help."""
        known, found = Belief.of(before[name] for name in targets), Belief()
        for turn in range(self.policy.target_trials if targets else 0):
            name = targets[turn % len(targets)]
            found = found.after((yield from self.probe(document, {name: 1}))[name])
            helps = found.exceeds(known, by=self.policy.gain)
            if helps >= self.policy.keep or helps <= self.policy.drop:
                break
        return found if found.exceeds(known, by=self.policy.gain) >= 0.5 else None

    def spares(self, document: str, sure: float, found: dict[str, Belief]) -> Generator[Ask, Answer, dict[str, Belief] | None]:
        """What is believed of each guard; None where one of them seems to be damaged."""
        until = self.left - self.policy.guard_trials
        known = {name: Belief.of(self.before[each] for each in members) for name, members in self.guards.items()}
        while True:
            chances = {name: belief.exceeds(known[name], by=-self.policy.loss) for name, belief in found.items()}
            doubted = [name for name, chance in chances.items() if chance < sure]
            if not doubted or min(chances.values()) <= self.policy.drop or self.left - len(doubted) < until:
                return None if any(chances[name] <= 0.5 for name in doubted) else found
            members = {name: self.guards[name][int(found[name].trials) % len(self.guards[name])] for name in doubted}
            scores = yield from self.probe(document, dict.fromkeys(members.values(), 1))
            found = found | {name: found[name].after(scores[member]) for name, member in members.items()}

    def put_through(self) -> Generator[Ask, Answer, None]:
        """The stack through the gate; where it is refused, what passes a harder screen by itself is tried once more."""
        accepted = yield from self.passes_gate()
        if not accepted and len(self.stack) > 1:
            yield from self.take_apart()
            accepted = yield from self.passes_gate()
        if accepted:
            self.settle()
        else:
            self.draft, self.beliefs = self.base, dict(self.before)
        self.stack = []

    def settle(self) -> None:
        """The draft is the base now, and what it repaired is guarded from here on, as one."""
        repaired = [name for repair in self.stack for name in self.targets(repair.proposal)]
        guarded = [members for members in self.guards.values() if len(members) == 1]
        former = [name for members in self.guards.values() if len(members) > 1 for name in members]
        new = tuple(dict.fromkeys(name for name in former + repaired if (name,) not in guarded))
        self.guards = {members[0]: members for members in [*guarded, new] if members}
        self.base, self.before = self.draft, dict(self.beliefs)

    def passes_gate(self) -> Generator[Ask, Answer, bool]:
        if not self.stack or self.left < self.policy.least_commit:
            return False
        proposals = tuple(repair.proposal for repair in self.stack)
        target, protected = self.split(dict.fromkeys(name for proposal in proposals for name in self.targets(proposal)))
        ruling = yield Commit(self.draft, proposals, target, protected, min(self.left, self.commit_trials()))
        self.left -= ruling.trials
        return ruling.verdict == "accepted"

    def split(self, targets: Mapping[str, None]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Target and protected slices of a commit. A target that is guarded too is only protected, where others remain."""
        guarded = {name for members in self.guards.values() for name in members}
        target = tuple(name for name in targets if name not in guarded) or tuple(targets)
        rest = [tuple(name for name in members if name not in target) for members in self.guards.values()]
        return target, tuple(members for members in rest if members)

    def take_apart(self) -> Generator[Ask, Answer, None]:
        """Keep the repairs that pass the screen by themselves, on the base."""
        kept, self.draft = [], self.base
        for repair in self.stack:
            alone, more = _onto(repair.proposal, self.base), _onto(repair.proposal, self.draft)
            if alone is None or more is None or not self.can_screen():
                continue
            if (yield from self.improves(alone, self.targets(repair.proposal), self.before)) is None:
                continue
            spared = yield from self.spares(alone, self.policy.spared_apart, dict(repair.spared))
            if spared is not None:
                kept, self.draft = [*kept, Repair(repair.proposal, spared)], more
        self.stack = kept


def _onto(proposal: Proposal, document: str) -> str | None:
    """None where the repair does not fit the document."""
    try:
        return proposal.onto(document)
    except (Invalid, MergeConflict):
        return None
