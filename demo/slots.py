"""Names in a step -> things of this episode: from the task text, a table, a container or the first option at hand."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from demo.exploring import find
from demo.grounding import CERTAIN, SURE, best_fit
from demo.reading import Options
from demo.scene import Scene
from demo.world import Thing
from skillhub.curation.phrases import Move, content
from skillhub.curation.template import fill

_NAMES = re.compile(r"\{([a-z0-9-]+)\}")
_CLOSE_ENOUGH = 0.45
_NEVER = frozenset({"agent", "air", "door", "inventory", "ground"})


def unbound(move: Move) -> str:
    """The first name in a move that has no value yet, or an empty string."""
    found = _NAMES.search(" ".join(move.args))
    return found[1] if found else ""


def filled(move: Move, values: dict[str, str]) -> Move:
    return Move(move.verb, tuple(fill(fill(a, values), values) for a in move.args), move.link)


def bind(scene: Scene, move: Move, *, options: Options) -> None:
    """Give the name a value; leaves it open where nothing fits."""
    position = next(i for i, a in enumerate(move.args) if "{" + options.name + "}" in a)
    term = fill(move.args[position], {k: v for k, v in scene.slots.items() if k != options.name})
    here = scene.things(move.verb, position)
    value = _holder(scene, term, options=options) or _first_at_hand(scene, here, term=term, options=options)
    if value:
        scene.slots[options.name] = value
        scene.chosen.add(options.name)


def reconsider(scene: Scene, move: Move) -> None:
    """Take back the agent's own choices for a move: something better may be in sight now."""
    for name in scene.chosen & set(_NAMES.findall(" ".join(move.args))):
        scene.chosen.discard(name)
        del scene.slots[name]


def _holder(scene: Scene, term: str, *, options: Options) -> str:
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


def _first_at_hand(scene: Scene, here: Collection[Thing], *, term: str, options: Options) -> str:
    """The first option here, else the first met before, else what is here and like the options, else a search."""
    taken = {scene.slots[n] for n in scene.chosen}
    wanted = [o for o in _in_order(scene, options) if options.table or o not in taken]
    phrases = {o: term.replace("{" + options.name + "}", o) for o in wanted}
    fits = {o: best_fit(p, here) for o, p in phrases.items()}
    found = next((o for level in (CERTAIN, SURE) for o in fits if fits[o] >= level), "") or _met_before(scene, phrases)
    bare = term == "{" + options.name + "}"
    if not found and not bare:
        found = _same_frame(here, term, taken=taken)
    elif not found and not all("{" in o for o in options.values):
        found = _most_alike(scene, here, phrases=list(phrases.values()))
    if found or not phrases:
        return found
    first, phrase = next(iter(phrases.items()))
    return first if find(scene, phrase) else _met_before(scene, phrases)


def _met_before(scene: Scene, phrases: Mapping[str, str]) -> str:
    """The first option that was seen in some room; the agent goes there."""
    for option, phrase in phrases.items():
        if any(best_fit(phrase, things) >= SURE for things in scene.rooms.values()) and find(scene, phrase):
            return option
    return ""


def _in_order(scene: Scene, options: Options) -> Sequence[str]:
    filled_in = [fill(o, scene.slots) for o in _by_table(scene, options)]
    return list(dict.fromkeys(filled_in))


def _by_table(scene: Scene, options: Options) -> Iterator[str]:
    """What the table gives for this task (or for the case most like it) first, then the other options."""
    if options.table:
        value = scene.slots.get(options.table[0][0], "")
        cases = list(dict.fromkeys(given.lower() for _, given, _ in options.table))
        nearest = value.lower() if value.lower() in cases else scene.similar.closest([value], cases)[1]
        yield from (option for _, given, option in options.table if given.lower() == nearest)
    yield from options.values


def _same_frame(here: Collection[Thing], term: str, *, taken: Collection[str]) -> str:
    """What stands in the name's place in the name of something here: any colour of wire will do."""
    before, _, after = term.partition("{")
    pattern = re.compile(re.escape(before) + "(.+)" + re.escape(after.partition("}")[2]))
    found = (pattern.fullmatch(a) for t in sorted(here, key=lambda t: t.number) for a in t.aliases)
    return next((m[1] for m in found if m and m[1] not in taken), "")


def _most_alike(scene: Scene, here: Collection[Thing], *, phrases: Sequence[str]) -> str:
    """What is here and means nearly the same as an option."""
    things = sorted(t.name for t in here if not content(t.name) & _NEVER)
    fit, name = scene.similar.closest(phrases, things)
    return name if fit >= _CLOSE_ENOUGH else ""
