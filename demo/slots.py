"""Names in a step -> things of this episode: from the task text, a table, a container or the first option at hand."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from demo.exploring import find
from demo.grounding import SURE, Similarity, best_fit
from demo.reading import Options
from demo.scene import Scene
from demo.world import Thing
from skillhub.curation.phrases import Move, content
from skillhub.curation.template import fill

_CLOSE_ENOUGH = 0.45
_NEVER = frozenset({"agent", "air", "door", "inventory", "ground"})


def unbound(move: Move) -> str:
    """The first name in a move that has no value yet, or an empty string."""
    found = re.search(r"\{([a-z0-9-]+)\}", " ".join(move.args))
    return found[1] if found else ""


def filled(move: Move, values: dict[str, str]) -> Move:
    return Move(move.verb, tuple(fill(fill(a, values), values) for a in move.args), move.link)


def bind(scene: Scene, move: Move, options: Options, similar: Similarity) -> None:
    """Give the name a value; leaves it open where nothing fits."""
    position = next(i for i, a in enumerate(move.args) if "{" + options.name + "}" in a)
    term = fill(move.args[position], {k: v for k, v in scene.slots.items() if k != options.name})
    value = _holder(scene, term, options) or _first_at_hand(scene, move.verb, position, term, options, similar)
    if value:
        scene.slots[options.name] = value
        scene.chosen.add(options.name)


def _holder(scene: Scene, term: str, options: Options) -> str:
    inside = content(scene.slots.get(options.holds, ""))
    if not options.holds or not inside:
        return ""
    before, _, after = term.partition("{" + options.name + "}")
    pattern = re.compile(rf"{re.escape(before)}(.+?){re.escape(after)} \(containing (.*)\)")
    for line in scene.turn.room.splitlines():
        for found in pattern.finditer(line):
            if inside <= content(found[2]):
                return found[1].strip()
    return ""


def _first_at_hand(scene: Scene, verb: str, position: int, term: str, options: Options, similar: Similarity) -> str:
    """The first option here, else the first anywhere, else what is most like the options."""
    taken = {scene.slots[n] for n in scene.chosen}
    wanted = [o for o in _in_order(scene, options, similar) if options.table or o not in taken]
    phrases = [(o, term.replace("{" + options.name + "}", o)) for o in wanted]
    here = scene.things(verb, position)
    for option, phrase in phrases:
        if best_fit(phrase, here) >= SURE:
            return option
    for option, phrase in phrases:
        if any(best_fit(phrase, t) >= SURE for t in scene.rooms.values()) and find(scene, phrase):
            return option
    whole = term == "{" + options.name + "}"
    other = _most_alike(here, [p for _, p in phrases], similar) if whole else _same_frame(here, term, taken)
    if other:
        return other
    for option, phrase in phrases[:1]:
        if not scene.over and find(scene, phrase):
            return option
    for option, phrase in phrases[1:]:
        if any(best_fit(phrase, t) >= SURE for t in scene.rooms.values()) and find(scene, phrase):
            return option
    return ""


def _in_order(scene: Scene, options: Options, similar: Similarity) -> Sequence[str]:
    filled_in = [fill(o, scene.slots) for o in _by_table(scene, options, similar)]
    return list(dict.fromkeys(filled_in))


def _by_table(scene: Scene, options: Options, similar: Similarity) -> Iterator[str]:
    """What the table gives for this task (or for the case most like it) first, then the other options."""
    if options.table:
        value = scene.slots.get(options.table[0][0], "")
        cases = list(dict.fromkeys(given.lower() for _, given, _ in options.table))
        nearest = value.lower() if value.lower() in cases else similar.closest([value], cases)[1]
        yield from (option for _, given, option in options.table if given.lower() == nearest)
    yield from options.values


def _same_frame(here: Iterable[Thing], term: str, taken: Collection[str]) -> str:
    """What stands in the name's place in the name of something here: any colour of wire will do."""
    before, _, after = term.partition("{")
    pattern = re.compile(re.escape(before) + "(.+)" + re.escape(after.partition("}")[2]))
    found = (pattern.fullmatch(a) for t in sorted(here, key=lambda t: t.number) for a in t.aliases)
    return next((m[1] for m in found if m and m[1] not in taken), "")


def _most_alike(here: Iterable[Thing], phrases: Sequence[str], similar: Similarity) -> str:
    """What is here and means nearly the same as an option."""
    things = sorted(t.name for t in here if not content(t.name) & _NEVER)
    fit, name = similar.closest(phrases, things)
    return name if fit >= _CLOSE_ENOUGH else ""
