"""An agent that follows the skills it is shown: in come a task and SKILL.md texts, out goes the trace of one episode.

No language model: it reads imperative sentences, finds what they name and acts. It knows the interface, not the tasks.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from demo.deciding import holds
from demo.exploring import find, go, open_up, survey
from demo.grounding import CERTAIN, LIKELY, SURE, Encode, Similarity, best_fit, best_thing, extends, fit
from demo.reading import Each, Instruction, Plan, read_document
from demo.scene import Scene
from demo.slots import bind, filled, reconsider, unbound
from demo.world import World, recorded
from skillhub.curation.listings import named_after
from skillhub.curation.phrases import Move, content
from skillhub.rollouts.trace import Trace

BUDGET = 140
_FITS = 0.45
_TRIES = 3
_PATIENCE = 25
_SAME_AS = {"examine": "look at", "drop": "put down", "take": "pick up", "get": "pick up"}
_INSTEAD = {"move": "pour", "pour": "move"}
"""What cannot be carried can be poured, and the other way round."""
_COMMITTING = frozenset({"focus on", "eat", "reset"})


class Agent:
    """`encode` turns texts into unit vectors (see `skillhub.retrieval.embed`)."""

    def __init__(self, encode: Encode, *, budget: int = BUDGET) -> None:
        self._similar = Similarity(encode)
        self._budget = budget

    def play(self, world: World, task: str, variation: int, skills: Sequence[str] = ()) -> Trace:
        """One episode with the given documents in view."""
        scene = Scene(world, world.start(task, variation), self._budget, self._similar)
        plans = read_steps(skills, scene.turn.task, similar=self._similar)
        if not plans:
            survey(scene, most=6)
        for plan in plans:
            scene.plan, scene.slots = plan, bind_slots(plan, scene.turn.task)
            for instruction in plan.instructions:
                follow(scene, instruction)
            keep_on(scene, plan)
        return recorded(scene.turns, task=task, variation=variation, origin="agent")


def read_steps(skills: Sequence[str], task: str, *, similar: Similarity) -> list[Plan]:
    """The documents that fit this task best (several where they fit alike), in the order shown."""
    ranked = []
    for text in skills:
        plan = read_document(text)
        fitness = _fit(plan, task, similar=similar)
        if plan.instructions and fitness > 0:
            ranked.append((fitness, plan))
    best = max((fitness for fitness, _ in ranked), default=0.0)
    return [plan for fitness, plan in ranked if fitness == best]


def bind_slots(plan: Plan, task: str) -> dict[str, str]:
    """Slot values that the task text gives."""
    return (plan.template.match(task) or {}) if plan.template else {}


def follow(scene: Scene, instruction: Instruction) -> None:
    """Carry out one instruction as far as the world lets it."""
    moves = instruction.moves
    if instruction.condition and not holds(scene, instruction.condition):
        moves = instruction.otherwise
    if instruction.each and scene.slots.get(instruction.each.name) is None:
        return go_through(scene, instruction, instruction.each)
    scene.waiting = instruction if instruction.times > 1 else scene.waiting
    for _ in range(instruction.times):
        done, heard = False, []
        for move in moves:
            if scene.over:
                return
            done |= attempt(scene, move, instruction=instruction) or await_it(scene, move, instruction=instruction)
            heard.append(scene.turn.result)
        if not done or (instruction.until and any(instruction.until in text for text in heard)):
            return


def keep_on(scene: Scene, plan: Plan) -> None:
    """What the document repeats last may take longer here than it did there: go on while it can be done."""
    repeated = [i for i in plan.instructions if i.times > 1]
    if repeated and not scene.over:
        follow(scene, replace(repeated[-1], times=scene.budget))


def await_it(scene: Scene, move: Move, *, instruction: Instruction) -> bool:
    """What is to be committed to may not be there yet: go on with what was repeated last until it is."""
    if move.verb not in _COMMITTING or scene.waiting is None:
        return False
    for _ in range(_PATIENCE):
        for meanwhile in scene.waiting.moves:
            attempt(scene, meanwhile, instruction=scene.waiting)
        reconsider(scene, move)
        if scene.over or attempt(scene, move, instruction=instruction):
            return True
    return False


def go_through(scene: Scene, instruction: Instruction, each: Each) -> None:
    """The instruction once for each thing that was read of."""
    things = next((t for text in scene.told if (t := named_after(each.lead, text))), ())
    for thing in things:
        if thing not in each.apart:
            scene.slots[each.name] = thing
            follow(scene, instruction)
    scene.slots.pop(each.name, None)


def attempt(scene: Scene, move: Move, *, instruction: Instruction) -> bool:
    """Do one move: fill its names, go where its things are, open what hides them, act."""
    for options in (*instruction.options, *(scene.plan.options if scene.plan else ())):
        if options.name in re.findall(r"\{([a-z0-9-]+)\}", " ".join(move.args)) and options.name not in scene.slots:
            bind(scene, move, options=options)
    move = in_known_verbs(scene, filled(move, scene.slots))
    if unbound(move) or scene.over:
        return False
    if move.verb in {"go to", "teleport to"}:
        return go(scene, move.args[0])
    if move in scene.habits and act(scene, scene.habits[move]):
        return True
    for _ in range(3):
        actions = explore(scene, move)
        for action in [a for a in actions if may_take(scene, move, action=a)][:_TRIES]:
            if act(scene, action):
                if instruction.times > 1:
                    scene.habits[move] = action
                return True
        if not actions or scene.over or not open_up(scene):
            return False
    return False


def in_known_verbs(scene: Scene, move: Move) -> Move:
    """The move with a verb that the interface has; another verb is taken for the one nearest in meaning."""
    if not move.args or move.verb in scene.world.verbs:
        return move
    if move.verb in _SAME_AS:
        return replace(move, verb=_SAME_AS[move.verb])
    sentences = {Move(v, move.args, move.link).text(): v for v in scene.world.verbs}
    return replace(move, verb=sentences[scene.similar.closest([move.text()], list(sentences))[1]])


def explore(scene: Scene, move: Move) -> list[str]:
    """The actions that may be meant by a move, best first, after bringing its things together."""
    for _ in range(3):
        missing = [i for i in range(len(move.args)) if not at_hand(scene, move, position=i)]
        if not missing or scene.over:
            break
        if len(move.args) > 1 and all(extends(move.args[i], scene.things("look at")) for i in missing):
            return [literal(scene, move, missing=missing)]
        for position, phrase in enumerate(move.args):
            if position not in missing and not scene.carries(phrase):
                take_along(scene, phrase)
        if not find(scene, move.args[missing[0]]):
            break
    return ground(scene, move)


def at_hand(scene: Scene, move: Move, *, position: int) -> bool:
    """Whether the thing is here, or carried to where its partner may be."""
    phrase = move.args[position]
    if best_fit(phrase, scene.things(move.verb, position)) >= SURE:
        return True
    return len(move.args) > 1 and scene.carries(phrase) and not scene.things(move.verb, position)


def literal(scene: Scene, move: Move, *, missing: Sequence[int]) -> str:
    """The move in its own words where they name parts that the list of actions leaves out."""
    names = []
    for position, phrase in enumerate(move.args):
        thing = None if position in missing else best_thing(phrase, scene.things(move.verb, position))
        names.append(thing.aliases[-1] if thing else phrase)
    return Move(move.verb, tuple(names), move.link).text()


def take_along(scene: Scene, phrase: str) -> None:
    """Pick a thing up, where that is possible."""
    thing = best_thing(phrase, scene.things("pick up"))
    if thing is not None:
        scene.act(f"pick up {thing.aliases[-1]}")


def ground(scene: Scene, move: Move) -> list[str]:
    """The simulator's actions for a move, best first; without objects the verb itself."""
    if not move.args:
        return [move.verb]
    ranked = _ranked(scene, move, at_least=LIKELY)
    surely = _ranked(scene, replace(move, verb=_INSTEAD.get(move.verb, "")), at_least=SURE)
    if surely and not _ranked(scene, move, at_least=SURE):
        return [*surely, *ranked]
    return ranked or unlisted(scene, move)


def _ranked(scene: Scene, move: Move, *, at_least: float) -> list[str]:
    """Best fit first, of several names the one that says least beside the move; like things go by the name they share."""
    ranked = []
    words = content(move.text())
    for option in scene.options():
        if option.verb == move.verb and len(option.things) == len(move.args):
            fits = [fit(phrase, thing) for phrase, thing in zip(move.args, option.things, strict=True)]
            if min(fits) >= at_least and len({t.number for t in option.things}) == len(option.things):
                said = content(option.action)
                shared = Move(move.verb, tuple(t.name for t in option.things), option.link).text()
                ranked.append((-sum(fits), len(said - words), -len(said & words), option.action, shared))
    alike = Counter((worth, shared) for worth, *_, shared in ranked)
    return [shared if alike[worth, shared] > 1 else action for worth, *_, action, shared in sorted(ranked)]


def unlisted(scene: Scene, move: Move) -> list[str]:
    """The move in its own words where the interface has the verb, but the list of actions leaves it out."""
    things = scene.things("look at") | scene.things("pick up") | scene.things("put down")
    known = move.verb in scene.world.verbs and all(best_fit(a, things) >= LIKELY for a in move.args)
    return [move.text()] if known else []


def may_take(scene: Scene, move: Move, *, action: str) -> bool:
    """Guard: nothing irreversible without a sure referent, nothing that the document forbids."""
    words = content(action)
    if any(content(f.text()) <= words for f in (scene.plan.forbidden if scene.plan else ()) if f.args):
        return False
    if move.verb not in _COMMITTING:
        return True
    return best_fit(move.args[0], scene.things(move.verb)) >= CERTAIN


def act(scene: Scene, action: str) -> bool:
    """Take the action; True unless the world refused."""
    return scene.act(action)


def _fit(plan: Plan, task: str, *, similar: Similarity) -> float:
    if plan.template is not None:
        return 2.0 if plan.template.is_exact(task) else float(plan.template.match(task) is not None)
    likeness = similar.between(plan.about, task)
    return likeness if likeness >= _FITS else 0.0
