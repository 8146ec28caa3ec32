"""The demo: one walk round the whole circle in a real simulator, through the same HTTP API and SDK that any user has.

In: names of ScienceWorld task types. Out: a `Report`. Each station of the circle is one function below, in order.
"""

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import skillhub_client
from skillhub_client import Candidate, Client, every

from demo.candidates import copied_trace, harmful
from demo.plan import TaskPlan, cases, cases_of_any, plan_task
from demo.players import Crew, Hub, Played, apart, crew
from demo.report import Report, TaskReport, Verdict
from demo.stages import Say, Stages
from demo.world import World
from skillhub.curation.draft import Draft
from skillhub.curation.rules import ANY
from skillhub.errors import Invalid
from skillhub.rollouts.trace import Trace
from skillhub.stack import Stack

PLAYERS = 2
TASKS = (
    "find-animal",
    "use-thermometer",
    "power-component",
    "test-conductivity-of-unknown-substances",
    "measure-melting-point-known-substance",
    "boil",
)


@dataclass(frozen=True)
class Outcome:
    """A candidate and what came of it."""

    candidate: Candidate
    verdict: str
    reason: str
    trials: int = 0
    """Trials that were played for the decision."""


@contextmanager
def walked(tasks: Sequence[str], *, data_dir: Path, say: Say) -> Iterator[tuple[Report, Stack]]:
    """Start a hub in `data_dir` and walk the circle with every task type; inside, the hub still serves.

    Each run has a workspace of its own, so that an earlier run changes nothing. Invalid names unknown task types.
    """
    stages = Stages(say)
    name = f"demo-{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:4]}"
    with stages("plan", "choosing variations"):
        plans = apart(plan, list(dict.fromkeys(tasks)))
    with ExitStack() as stack:
        with stages("start", "starting a hub"):
            hub = stack.enter_context(Stack(data_dir, progress=stages.say))
        access = Hub(url=hub.url, key=hub.create_key("demo", workspace=name))
        with crew(access, run=name, size=PLAYERS) as players, Client(access.url, access.key) as client:
            report = walk(client, players, plans, stages=stages)
            report.url = client.ui_session().url
        report.workspace, report.stages, report.seconds = name, stages.seconds, stages.total
        yield report, hub


def plan(tasks: Sequence[str]) -> list[TaskPlan]:
    """Variations for each task type; Invalid names a task type that the simulator does not have."""
    world = World()
    try:
        unknown = sorted(set(tasks) - set(world.tasks))
        if unknown:
            raise Invalid(f"ScienceWorld has no task type {', '.join(unknown)}; it has {', '.join(world.tasks)}")
        return [plan_task(task, world.variations) for task in tasks]
    finally:
        world.close()


def walk(client: Client, players: Crew, plans: Sequence[TaskPlan], *, stages: Stages) -> Report:
    """rollouts -> evidence -> candidates -> gate -> versions -> retrieval -> context -> next rollouts"""
    with stages("without", "playing test variations without skills"):
        before = play_tests(players, plans, method="play_without")
    with stages("gold", "recording successful play on training variations"):
        gold = record_gold(players, plans)
    with stages("extract", "extracting candidates from it"):
        proposed = extract(client, plans)
    skills = [candidate for candidate in proposed if candidate.kind == "skill"]
    with stages("gate", f"gate: {len(skills)} skills in paired trials on dev variations"):
        decided = put_through_gate(client, players, skills, plans, say=stages.say)
    rules = [candidate for candidate in proposed if candidate.kind == "rule"]
    traps = propose_traps(client, gold, decided)
    with stages("gate again", f"gate: {len(rules)} rules, and {len(traps)} candidates that must not pass"):
        decided += put_through_gate(client, players, [*rules, *traps], plans, say=stages.say)
    with stages("with", "playing test variations with what was accepted"):
        after = play_tests(players, plans, method="play_with")
    return summarise(plans, before=before, after=after, decided=decided)


def play_tests(players: Crew, plans: Sequence[TaskPlan], *, method: str) -> dict[str, list[Played]]:
    """Test episodes of each task type."""
    pairs = [(plan.task, number) for plan in plans for number in plan.test]
    played: dict[str, list[Played]] = {plan.task: [] for plan in plans}
    for episode in players.each(method, pairs):
        played[episode.task].append(episode)
    return played


def record_gold(players: Crew, plans: Sequence[TaskPlan]) -> dict[str, list[Trace]]:
    """Recorded episodes of successful play, by task type."""
    traces: dict[str, list[Trace]] = {plan.task: [] for plan in plans}
    for trace in players.each("play_gold", [(plan.task, number) for plan in plans for number in plan.train]):
        traces[trace.slice].append(trace)
    return traces


def extract(client: Client, plans: Sequence[TaskPlan]) -> list[Candidate]:
    """Let the workers turn the episodes into candidates."""
    jobs = client.extract([plan.task for plan in plans], split="train").jobs
    results = [client.wait_for_job(job.id).result for job in jobs]
    return [client.get_candidate(candidate_id) for result in results for candidate_id in result["candidate_ids"]]


def put_through_gate(
    client: Client, players: Crew, candidates: Sequence[Candidate], plans: Sequence[TaskPlan], *, say: Say
) -> list[Outcome]:
    """Register a gate for each candidate, run its trials, return what was decided of each."""
    put_suites(client, plans)
    published = [skill.name for skill in every(client.list_skills, kind="skill")]
    refused, gates = [], []
    for candidate in candidates:
        beside = published if candidate.kind == "rule" else ()
        try:
            gates.append(client.open_gate(candidate.id, suite=suite_name(candidate.target_slice), companions=beside))
        except skillhub_client.Invalid as error:  # too few dev variations left for any decision
            refused.append(Outcome(candidate, verdict="undecided", reason=str(error)))
    players.work_off(lambda: say(f"{len(gates) - len(open_candidates(client))} of {len(gates)} decided"))
    return refused + [_outcome(client, gate.id) for gate in gates]


def open_candidates(client: Client) -> list[Candidate]:
    """Candidates under trial."""
    return list(every(client.list_candidates, state="gated"))


def put_suites(client: Client, plans: Sequence[TaskPlan]) -> None:
    """A suite for each task type, and one over all of them for what should hold everywhere."""
    for task in plans:
        client.put_suite(suite_name(task.task), cases(task))
    client.put_suite(suite_name(ANY), cases_of_any(plans))


def _outcome(client: Client, gate_id: str) -> Outcome:
    gate = client.get_gate(gate_id)
    return Outcome(
        client.get_candidate(gate.candidate_id),
        verdict=gate.decision.verdict,
        reason=gate.decision.reason,
        trials=sum(trial.state == "finished" for trial in gate.trials),
    )


def suite_name(task: str) -> str:
    return f"scienceworld-{task}"


def propose_traps(client: Client, gold: dict[str, list[Trace]], decided: Sequence[Outcome]) -> list[Candidate]:
    """For each accepted skill, a copy of one gold path and a harmful edit, offered as its next version."""
    traps = []
    for good in (outcome.candidate for outcome in decided if outcome.verdict == "accepted"):
        if good.kind == "skill":
            traps += [
                _propose(client, copied_trace(gold[good.target_slice][0], name=good.skill_name), good, proposer="copied-trace"),
                _propose(client, harmful(_as_draft(good)), good, proposer="harmful-edit"),
            ]
    return traps


def _as_draft(good: Candidate) -> Draft:
    return Draft(good.skill_name, good.kind, good.target_slice, good.document, claims=(), rationale=good.rationale)


def _propose(client: Client, draft: Draft, good: Candidate, *, proposer: str) -> Candidate:
    return client.propose(
        good.skill_name,
        draft.document,
        kind=good.kind,
        base=client.get_label(good.skill_name, "production").number,
        proposer=proposer,
        rationale=draft.rationale,
        target_slice=good.target_slice,
    )


def summarise(
    plans: Sequence[TaskPlan],
    *,
    before: dict[str, list[Played]],
    after: dict[str, list[Played]],
    decided: Sequence[Outcome],
) -> Report:
    return Report(
        tasks=[_task_report(plan.task, before[plan.task], after[plan.task], decided) for plan in plans],
        rules=_verdicts(decided, slice=ANY),
        trials=sum(outcome.trials for outcome in decided),
    )


def _task_report(task: str, before: Sequence[Played], after: Sequence[Played], decided: Sequence[Outcome]) -> TaskReport:
    return TaskReport(
        task=task,
        baseline=[played.score for played in before],
        final=[played.score for played in after],
        shown=sorted({version for played in after for version in played.shown}),
        verdicts=_verdicts(decided, slice=task),
    )


def _verdicts(decided: Sequence[Outcome], *, slice: str) -> list[Verdict]:
    return [
        Verdict(outcome.candidate.skill_name, outcome.candidate.proposer, outcome.verdict, outcome.reason)
        for outcome in decided
        if outcome.candidate.target_slice == slice
    ]
