"""The skill-following agent in a tiny fake world of two rooms: it follows, explores, and commits only on good grounds."""

from dataclasses import dataclass, field

import numpy as np

from demo.agent import Agent
from demo.candidates import copied_trace, harmful
from demo.reading import read_document, read_step
from demo.world import Option, Thing, Turn
from skillhub.curation.draft import Draft
from skillhub.curation.phrases import Move
from skillhub.rollouts.trace import Trace, TraceStep

TASK = "Find the crow. Then put it into the red box."
SKILL = """---
name: find
description: Find a thing and box it
---

# Find

## Task

Find the {thing}. Then put it into the {box} box.

## Steps

1. Focus on the {thing}.
2. Pick up the {thing}.
3. Move the {thing} to the {box} box.
"""


def encode(texts: list[str]) -> np.ndarray:
    """Texts that share no word are orthogonal."""
    vectors = np.zeros((len(texts), 512), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, sum(map(ord, word)) % 512] += 1.0
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


@dataclass
class FakeWorld:
    """A hall with two boxes and a garden with animals. A wrong `focus` ends the episode with nothing."""

    animals: tuple[str, ...] = ("ant", "crow")
    wanted: str = "crow"
    room: str = "hall"
    held: set[str] = field(default_factory=set)
    log: list[str] = field(default_factory=list)
    score: float = 0.0
    done: bool = False
    verbs: tuple[str, ...] = ("focus on", "pick up", "move", "teleport to", "look at", "open")

    def start(self, task: str, variation: int) -> Turn:
        return self._turn("")

    def act(self, action: str) -> Turn:
        self.log.append(action)
        verb, _, rest = action.partition(" to " if action.startswith(("teleport", "move")) else " on ")
        if verb == "teleport":
            self.room = rest
        elif verb == "focus":
            self.score, self.done = (0.5, False) if rest == self.wanted else (0.0, True)
        elif action.startswith("pick up "):
            self.held.add(action.removeprefix("pick up "))
        elif verb.startswith("move "):
            self.score, self.done = (1.0 if rest == "red box" and self.score else 0.0), True
        return self._turn("Done.")

    def options(self) -> list[Option]:
        here = ["red box", "blue box"] if self.room == "hall" else [a for a in self.animals if a not in self.held]
        things = [Thing(sum(map(ord, n)), n, (n,)) for n in (*here, *sorted(self.held))]
        rooms = [Thing(sum(map(ord, n)), n, (n,)) for n in ("hall", "garden")]
        single = [Option(f"{v} {t.name}", v, "", (t,)) for v in ("focus on", "pick up", "look at") for t in things]
        walks = [Option(f"teleport to {t.name}", "teleport to", "", (t,)) for t in rooms]
        moves = [
            Option(f"move {a.name} to {b.name}", "move", "to", (a, b))
            for a in things
            for b in things
            if a.name in self.held and "box" in b.name
        ]
        return single + walks + moves

    def _turn(self, result: str) -> Turn:
        room, held = f"This room is called the {self.room}.", "You hold:\n" + "\n".join(self.held)
        return Turn(TASK, result, room, held, self.score, self.done)


def test_it_binds_slots_from_the_task_explores_and_brings_things_together():
    world = FakeWorld()
    trace = Agent(encode).play(world, "find", 0, [SKILL])
    assert trace.success
    assert world.log == ["teleport to garden", "focus on crow", "pick up crow", "teleport to hall", "move crow to red box"]


def test_without_a_skill_it_looks_about_and_commits_to_nothing():
    world = FakeWorld()
    trace = Agent(encode).play(world, "find", 0)
    assert trace.score == 0.0
    assert world.log and not any(a.startswith("focus") for a in world.log)


def test_a_document_about_another_task_counts_as_none():
    other = SKILL.replace("Find the {thing}. Then put it into the {box} box.", "Bake {number} loaves of rye bread.")
    world = FakeWorld()
    Agent(encode).play(world, "find", 0, [other])
    assert not any(a.startswith("focus") for a in world.log)


def test_the_guard_does_not_focus_on_what_is_not_there():
    world = FakeWorld(animals=("ant", "crowbar"))
    trace = Agent(encode).play(world, "find", 0, [SKILL])
    assert not any(a.startswith("focus") for a in world.log)
    assert not trace.success


def test_a_caution_forbids_what_a_step_asks_for():
    world = FakeWorld()
    Agent(encode).play(world, "find", 0, [SKILL + "\n## Cautions\n\n- Do not focus on the crow: it ended 3 episodes.\n"])
    assert not any(a.startswith("focus") for a in world.log)


def test_of_several_options_it_takes_the_first_in_sight():
    choice = SKILL.replace("{thing}", "{target}", 5).replace("Find the {target}", "Find the {thing}")
    choice = choice.replace("Focus on the {target}.", "Focus on {target}, where {target} is one of these: owl, crow, ant.")
    world = FakeWorld()
    Agent(encode).play(world, "find", 0, [choice])
    assert [a for a in world.log if a.startswith("focus")] == ["focus on crow"]


def test_raw_actions_are_followed_as_they_stand():
    raw = "# Copied\n\n1. teleport to garden\n2. focus on crow\n3. pick up crow\n4. move crow to red box\n"
    world = FakeWorld()
    assert Agent(encode).play(world, "find", 0, [raw.replace("# Copied", f"# {TASK}")]).success


def test_conditions_repeats_and_tables_are_read():
    branch = read_step("If the last reading is above {number}, move the cup to the red box; otherwise, wait.")
    assert branch.condition == "the last reading is above {number}"
    assert branch.moves == (Move("move", ("cup", "red box"), "to"),) and branch.otherwise == (Move("wait"),)
    repeat = read_step('Repeat up to 9 times until you see "ice": examine the cup; wait.')
    assert (repeat.times, repeat.until, len(repeat.moves)) == (9, "ice", 2)
    table = read_step("Pour {paint}, where {paint} is red or blue when {hue} is violet, yellow when {hue} is green.")
    assert table.options[0].table == (("hue", "violet", "red"), ("hue", "violet", "blue"), ("hue", "green", "yellow"))


def test_a_document_without_steps_instructs_nothing():
    assert read_document("# Notes\n\nNothing to do here.\n").instructions == ()


def test_of_documents_that_fit_the_one_in_the_very_words_of_the_task_is_followed():
    near = SKILL.replace("Find the {thing}.", "Find the living {thing}.").replace("Focus on the {thing}.", "Focus on the ant.")
    world = FakeWorld()
    Agent(encode).play(world, "find", 0, [near, SKILL])
    assert [a for a in world.log if a.startswith("focus")] == ["focus on crow"]


def test_a_harmful_edit_looks_like_the_skill_and_commits_first():
    draft = Draft("find", "skill", "find", SKILL, (), "")
    edited = harmful(draft)
    steps = read_document(edited.document).instructions
    assert len(steps) == 4 and steps[0].moves == (Move("focus on", ("inventory",)),)


def test_a_copied_trace_keeps_every_action_as_it_was():
    trace = Trace("e1", TASK, "find", (TraceStep("", "go to garden"), TraceStep("", "focus on crow")), 1.0, True)
    copied = copied_trace(trace, name="find-copied")
    assert [m.text() for i in read_document(copied.document).instructions for m in i.moves] == ["go to garden", "focus on crow"]


def test_a_step_for_each_thing_read_of_is_read_with_its_exceptions():
    step = read_step('For each {item} named after "mix" in what you read, except water: pick up the {item}.')
    assert (step.each.name, step.each.lead, step.each.apart) == ("item", "mix", ("water",))
    assert step.moves == (Move("pick up", ("{item}",)),)
    waiting = read_step('If you read "water", repeat up to 3 times: wait.')
    assert (waiting.condition, waiting.times) == ('you read "water"', 3)
