"""The processes that play. Each holds one simulator, one agent and one connection to the hub, and is handed plain values."""

import multiprocessing
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from skillhub_client import Client, TrialLease, TrialResult
from skillhub_client.evaluate import run_trials

from demo.agent import Agent
from demo.recording import episode_of
from demo.world import World
from skillhub.retrieval.embed import Embedder
from skillhub.rollouts.trace import Trace

T = TypeVar("T")
SHOWN = 2
"""Documents asked for with each task."""
PROGRESS_SECONDS = 10.0


@dataclass(frozen=True)
class Hub:
    """Where the hub is and the key that opens it."""

    url: str
    key: str


@dataclass(frozen=True)
class Played:
    """One test episode: its score and what had been shown."""

    task: str
    variation: int
    score: float
    shown: tuple[str, ...]
    """`name@number` of each version in the context."""


class Player:
    """Plays episodes and records every one of them through the SDK."""

    def __init__(self, hub: Hub, *, run: str) -> None:
        self.client = Client(hub.url, hub.key)
        self.world = World()
        self.agent = Agent(Embedder().encode)
        self.run = run

    def play_gold(self, task: str, variation: int) -> Trace:
        trace = self.world.gold(task, variation)
        self._record(trace, variation=variation, split="train", policy="gold")
        return trace

    def play_without(self, task: str, variation: int) -> Played:
        trace = self.agent.play(self.world, task, variation, [])
        self._record(trace, variation=variation, split="test", policy="agent")
        return Played(task=task, variation=variation, score=trace.score, shown=())

    def play_with(self, task: str, variation: int) -> Played:
        text = self.world.start(task, variation).task
        context = self.client.contexts([text], k=SHOWN).contexts[0]
        trace = self.agent.play(self.world, task, variation, [entry.document for entry in context.entries])
        self._record(trace, variation=variation, split="test", policy="agent-with-skills", context=context)
        shown = tuple(f"{entry.skill}@{entry.number}" for entry in context.entries)
        return Played(task=task, variation=variation, score=trace.score, shown=shown)

    def play_trial(self, trial: TrialLease) -> TrialResult:
        task, variation = trial.case.spec["task"], trial.case.spec["variation"]
        trace = self.agent.play(self.world, task, variation, [shown.document for shown in trial.documents])
        key = f"{self.run}/{trial.id}/{uuid.uuid4().hex[:8]}"  # a second attempt is another episode
        episode = episode_of(trace, key=key, variation=variation, split="dev", policy=f"agent-{trial.arm}")
        return TrialResult(score=trace.score, episode=episode)

    def _record(self, trace: Trace, *, variation: int, split: str, policy: str, context=None) -> None:
        key = f"{self.run}/{policy}/{trace.slice}/{variation}"
        self.client.ingest_episodes(
            [episode_of(trace, key=key, variation=variation, split=split, policy=policy, context=context)]
        )


class Crew:
    """A fixed number of player processes."""

    def __init__(self, pool: ProcessPoolExecutor, *, size: int) -> None:
        self._pool = pool
        self._size = size

    def each(self, method: str, pairs: Sequence[tuple[str, int]]) -> Iterator[object]:
        """Answers of `Player.method(task, variation)` for every pair, in order."""
        answers = [self._pool.submit(_call, method, task, variation) for task, variation in pairs]
        return (answer.result() for answer in answers)

    def work_off(self, progress: Callable[[], None]) -> None:
        """Run trials in all processes until no candidate is under trial; calls `progress` every few seconds."""
        working = [self._pool.submit(_work_off, number) for number in range(self._size)]
        while wait(working, timeout=PROGRESS_SECONDS).not_done:
            progress()
        for process in working:
            process.result()


@contextmanager
def crew(hub: Hub, *, run: str, size: int) -> Iterator[Crew]:
    """Players in fresh processes."""
    with _processes(size, _open, hub, run) as pool:
        yield Crew(pool, size=size)


def apart(function: Callable[..., T], *arguments: object) -> T:
    """The function's answer, from a process of its own: what starts a simulator must not do so beside Ctrl-C."""
    with _processes(1, _leave) as pool:
        return pool.submit(function, *arguments).result()


@contextmanager
def _processes(size: int, initializer: Callable[..., None], *arguments: object) -> Iterator[ProcessPoolExecutor]:
    """Spawned, not forked: torch and Java do not survive a fork. Ended at once where the parent is interrupted."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(size, mp_context=context, initializer=initializer, initargs=arguments) as pool:
        try:
            yield pool
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


_player: Player


def _open(hub: Hub, run: str) -> None:
    global _player
    _leave()
    _player = Player(hub, run=run)


def _leave() -> None:
    """Into a session of its own: Ctrl-C reaches only the parent, which then ends its players, and they their simulators."""
    os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A player whose parent was killed would wait for work for ever; its simulator ends with it."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _call(method: str, task: str, variation: int) -> object:
    return getattr(_player, method)(task, variation)


def _work_off(number: int) -> None:
    def decided() -> bool:
        return not _player.client.list_candidates(state="gated", limit=1).items

    run_trials(_player.client, _player.play_trial, runner=f"player-{number}", until=decided)
