"""How good gate and search are in a world with known truth: `python -m tests.bench.gate [--world FILE]`.

Prints one JSON: P(accept) and trials of single candidates, whole optimisations on about 2,000 trials beside gepa on the same
worlds, and the same under wrong slices, crashes and drifting rates. FILE is a Python file with the interface of the shared
`bench/skill_world.py`, which is the default where it stands beside the repository.
"""

import argparse
import importlib.util
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from statistics import mean, pstdev
from types import ModuleType
from typing import Any

import gepa
from gepa.core.adapter import EvaluationBatch

from skillhub.gate.budget import e_lond_alpha
from skillhub.gate.policy import Policy
from skillhub.gate.proofs import open_proofs
from skillhub.optimise.asks import Answer, Ask, Commit, Probe, Proposal, Propose, Ruling
from skillhub.optimise.boost import boost
from skillhub.optimise.policy import SearchPolicy

WORLD = Path(__file__).parents[3] / "shared" / "bench" / "skill_world.py"
BUDGET = 2000
HEAD = "---\nname: world\ndescription: Answers cases.\n---\n\n"
KINDS = ("NULL", "HARM", "SHORTCUT", "RULE")
TRAIN, VALIDATION, MINIBATCH = 80, 40, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", type=Path, default=WORLD)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--draws", type=int, default=3000)
    options = parser.parse_args()
    world = load(options.world)
    started = time.perf_counter()
    report = {
        **singles(world, options.draws),
        "false_accepts_20_null": false_accepts(world, options.draws // 10),
        **optimisations(world, options.seeds),
        "variants": variants(world, options.seeds, options.draws // 3),
        "seconds": round(time.perf_counter() - started),
    }
    print(json.dumps(report, indent=2))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("skill_world", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["skill_world"] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Arena:
    """The real gate over a world. `wrong` of the cases are of another slice than declared, `crash` of the trials break, `drift`
    moves the rates of both sides."""

    world: Any
    seed: int
    wrong: float = 0.0
    crash: float = 0.0
    drift: float = 0.0
    policy: Policy = field(default_factory=Policy)
    base: str = ""
    gates: int = 0
    accepted: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed + 77)
        self.train, self.dev = self.suite("train"), self.suite("dev")
        self.by_id = {case["id"]: case for cases in self.train.values() for case in cases}
        self.names = {number_of(name): name for name in self.dev}

    def suite(self, split: str) -> dict[str, list[dict]]:
        """Declared slice -> its cases, as many as a gate can want of one slice."""
        cases = self.world.cases(split, self.world.spec.families * self.policy.protect_pairs)
        slices, found = sorted({case["slice"] for case in cases}, key=number_of), {}
        for case in cases:
            name = self.chance.choice(slices) if self.chance.random() < self.wrong else case["slice"]
            found.setdefault(name, []).append(case)
        return {name: found[name] for name in slices}

    def play(self, document: str, case: dict, *, ease: float = 0.0) -> float:
        """One trial; `ease` > 0 gives the chance that it is solved anyhow."""
        score = float(self.world.rollout(document, case))
        return 1.0 if self.chance.random() < ease else score

    def pair(self, document: str, case: dict) -> float:
        """Difference of a fresh pair. A trial that broke is paid, and run again, as the hub does."""
        ease = self.drift * self.chance.random()
        while self.chance.random() < self.crash:
            self.world.rollout(document, case)  # paid, and lost
        return self.play(document, case, ease=ease) - self.play(self.base, case, ease=ease)

    def gate(
        self, document: str, target: Sequence[str], protected: Sequence[Sequence[str]], most: float, policy: Policy
    ) -> tuple[str, str, int]:
        """Verdict, reason and trials of one candidate; each case is drawn once."""
        before = self.world.rollouts
        self.gates += 1
        alpha = e_lond_alpha(policy.alpha, k=self.gates, accepted=self.accepted)
        cases = {"target": self.drawn(target)[: policy.max_pairs]}
        cases |= {group[0]: self.drawn(group)[: policy.protect_pairs] for group in protected}
        budget = {name: len(drawn) for name, drawn in cases.items()}
        proofs = open_proofs(policy, alpha, target="target", protected=[*cases][1:] or ["target"], budget=budget)
        state, reason = proofs.outcome()
        while state == "open" and self.world.rollouts - before + 2 <= most:
            wanted = proofs.wanted()[0]
            proofs = proofs.after(wanted, self.pair(document, cases[wanted].pop()))
            state, reason = proofs.outcome()
        if state == "accepted":
            self.accepted, self.base = self.accepted + 1, document
        return ("undecided" if state == "open" else state), reason, self.world.rollouts - before

    def drawn(self, slices: Sequence[str]) -> list[dict]:
        cases = [case for name in slices for case in self.dev[name]]
        return self.chance.sample(cases, len(cases))


def number_of(slice: str) -> int:
    """Of the family that the world's slice is named for."""
    return int(slice.rpartition("-")[2])


def singles(world: ModuleType, draws: int, **how: float) -> dict[str, dict[str, float]]:
    """P(accept) and mean trials of one candidate of each kind; the incumbent solves half of the families."""
    accept, trials = {}, {}
    for kind in KINDS:
        runs = [single(world, kind, seed, **how) for seed in range(draws)]
        accept[kind.lower()] = mean(verdict == "accepted" for verdict, _ in runs)
        trials[kind.lower()] = mean(count for _, count in runs)
    return {"p_accept": accept, "trials": trials}


def single(world: ModuleType, kind: str, seed: int, **how: float) -> tuple[str, int]:
    arena, strong, weak = incumbent(world, seed, **how)
    document = f"{arena.base}- {kind}-{weak} (edit)\n"
    verdict, _, trials = arena.gate(document, [arena.names[weak]], [strong], float("inf"), arena.policy)
    return verdict, trials


def incumbent(world: ModuleType, seed: int, **how: float) -> tuple[Arena, list[str], int]:
    """A skill that solves the seed's families and as many more as make half; the slices it solves, a number it fails."""
    made = world.World(seed)
    half = max(made.spec.families // 2, made.spec.solved_by_seed)
    base = HEAD + world.SEED_SKILL + "".join(f"- RULE-{k} (edit)\n" for k in range(made.spec.solved_by_seed, half))
    arena = Arena(made, seed, base=base, **how)
    return arena, [arena.names[k] for k in range(half)], half


def false_accepts(world: ModuleType, streams: int, **how: float) -> float:
    """Share of streams of 20 candidates without effect in which any is accepted."""
    return mean(any(stream_of_nulls(world, seed, **how)) for seed in range(streams))


def stream_of_nulls(world: ModuleType, seed: int, **how: float) -> Iterator[bool]:
    arena, strong, weak = incumbent(world, seed, **how)
    for number in range(20):
        document = f"{arena.base}- NULL-{weak} (edit {number})\n"
        yield arena.gate(document, [arena.names[weak]], [strong], float("inf"), arena.policy)[0] == "accepted"


def optimisations(world: ModuleType, seeds: int) -> dict[str, Any]:
    ours = [optimise(world, seed) for seed in range(seeds)]
    theirs = [optimise_with_gepa(world, seed) for seed in range(seeds)]
    return {**summary(ours), **{f"gepa_{name}": value for name, value in summary(theirs).items()}}


def summary(runs: Sequence[tuple[float, bool, int]]) -> dict[str, Any]:
    scores, broken, rollouts = zip(*runs, strict=True)
    score = {"mean": mean(scores), "sd": pstdev(scores)}
    return {"true_score": score, "p_broken": mean(broken), "rollouts": {"mean": mean(rollouts), "most": max(rollouts)}}


def optimise(world: ModuleType, seed: int, **how: float) -> tuple[float, bool, int]:
    """True score, whether a family that the seed solved is broken, and trials paid."""
    arena = Arena(world.World(seed), seed, base=HEAD + world.SEED_SKILL, **how)
    cases = {name: [case["id"] for case in found] for name, found in arena.train.items()}
    search = boost(arena.base, cases, budget=BUDGET, policy=SearchPolicy(), seed=seed)
    final = driven(search, lambda ask: answered(arena, ask))
    return judged(world, arena.world, final)


def driven(search: Any, answer: Callable[[Ask], Answer]) -> str:
    """The document that a search ends with."""
    try:
        ask = next(search)
        while True:
            ask = search.send(answer(ask))
    except StopIteration as end:
        return end.value


def answered(arena: Arena, ask: Ask) -> Answer:
    match ask:
        case Probe():
            return [screened(arena, ask.document, key) for key in ask.cases]
        case Propose():
            failing = [number_of(name) for name, count in ask.failures.items() for _ in range(count)]
            lines = [arena.world.propose_line(failing) for _ in range(ask.count)]
            targets = [arena.names[k] for _, k in arena.world.proposed[-len(lines) :]]
            added = [({"op": "add", "anchor": "", "text": line},) for line in lines]
            return [Proposal("add", "", (name,), edit) for name, edit in zip(targets, added, strict=True)]
        case Commit():
            policy = replace(arena.policy, beta=SearchPolicy().loss)
            verdict, reason, trials = arena.gate(ask.document, ask.target, ask.protected, ask.trials, policy)
            return Ruling(verdict, reason, trials)


def screened(arena: Arena, document: str, key: str) -> float | None:
    """A trial that breaks is paid, and says nothing."""
    score = arena.play(document, arena.by_id[key])
    return None if arena.chance.random() < arena.crash else score


def judged(world: ModuleType, made: Any, document: str) -> tuple[float, bool, int]:
    return made.true_score(document), world.broken_families(made, world.SEED_SKILL, document) > 0, made.rollouts


class Adapter:
    """The world as gepa wants it."""

    propose_new_texts = None

    def __init__(self, made: Any) -> None:
        self.made = made

    def evaluate(self, batch: list[dict], candidate: dict[str, str], capture_traces: bool = False) -> EvaluationBatch:
        scores = [float(self.made.rollout(candidate["skill"], case)) for case in batch]
        return EvaluationBatch(outputs=scores, scores=scores, trajectories=list(batch) if capture_traces else None)

    def make_reflective_dataset(self, candidate: dict, evaluated: EvaluationBatch, components: list[str]) -> dict[str, list]:
        rows = [{"slice": case["slice"], "score": score} for case, score in
                zip(evaluated.trajectories, evaluated.scores, strict=True)]  # fmt: skip
        return dict.fromkeys(components, rows)

    def propose(self, candidate: dict, dataset: dict[str, list], components: list[str]) -> dict[str, str]:
        failing = [int(row["slice"].rpartition("-")[2]) for row in dataset["skill"] if row["score"] < 0.5]
        line = self.made.propose_line(failing)
        return {"skill": candidate["skill"] + (f"{line}\n" if line else "")}


def optimise_with_gepa(world: ModuleType, seed: int) -> tuple[float, bool, int]:
    made = world.World(seed)
    adapter = Adapter(made)
    with redirect_stdout(StringIO()):
        result = gepa.optimize(
            {"skill": world.SEED_SKILL}, made.cases("train", TRAIN), made.cases("dev", VALIDATION), adapter=adapter,
            custom_candidate_proposer=adapter.propose, reflection_minibatch_size=MINIBATCH, max_metric_calls=BUDGET, seed=seed,
        )  # fmt: skip
    return judged(world, made, result.best_candidate["skill"])


def variants(world: ModuleType, seeds: int, draws: int) -> dict[str, Any]:
    """The same where something is wrong with the world."""
    hows = {"wrong_slices": {"wrong": 0.3}, "crashes": {"crash": 0.1}, "drift": {"drift": 0.5}}
    return {
        name: {
            **singles(world, draws, **how),
            "false_accepts_20_null": false_accepts(world, draws // 5, **how),
            **summary([optimise(world, seed, **how) for seed in range(seeds)]),
        }
        for name, how in hows.items()
    }


if __name__ == "__main__":
    main()
