"""Getting to things: in come a scene and a phrase, out goes whether the agent now stands where the thing is."""

from demo.grounding import LIKELY, SURE, best_fit, best_thing, score
from demo.scene import Scene

_WALK = ("teleport to", "go to")


def go(scene: Scene, place: str) -> bool:
    """Be in a place."""
    if scene.here and score(place, scene.here) >= SURE:
        return True
    for verb in _WALK:
        thing = best_thing(place, scene.things(verb))
        if thing is not None and best_fit(place, [thing]) >= SURE:
            return scene.act(f"{verb} {thing.name}")
    return False


def places(scene: Scene) -> list[str]:
    """Every place that can be reached in one step and was not visited yet."""
    names = {t.name for t in scene.things("teleport to") or scene.things("go to")}
    return sorted(n for n in names if "door" not in n.split() and n not in scene.rooms)


def find(scene: Scene, phrase: str) -> bool:
    """Walk to where the thing is: to the known room that has it, else through rooms not seen yet."""
    scene.options()
    if best_fit(phrase, scene.rooms[scene.here]) >= SURE:
        return True
    if (phrase, scene.here) in scene.missed:
        return False
    known = {room: best_fit(phrase, things) for room, things in scene.rooms.items() if room != scene.here}
    likeness, room = max(((f, r) for r, f in known.items()), default=(0.0, ""))
    if likeness >= SURE:
        return go(scene, room)
    for place in places(scene):
        if scene.over or not go(scene, place):
            continue
        scene.options()
        if best_fit(phrase, scene.rooms[scene.here]) >= SURE:
            return True
    scene.missed.add((phrase, scene.here))
    if likeness < LIKELY or not go(scene, room):
        return False
    scene.missed.add((phrase, scene.here))
    return True


def open_up(scene: Scene) -> bool:
    """Open everything here that is closed and was not tried before; True when anything opened."""
    any_opened = False
    for thing in sorted(scene.things("open"), key=lambda t: t.number):
        if scene.over or "door" in thing.name.split() or thing.number in scene.opened:
            continue
        scene.opened.add(thing.number)
        any_opened |= scene.act(f"open {thing.aliases[-1]}")
    return any_opened


def survey(scene: Scene, most: int) -> None:
    """Look around the world, without changing it."""
    for place in places(scene)[:most]:
        if not scene.over and go(scene, place):
            scene.options()
