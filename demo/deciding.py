"""Conditions in words -> whether they are true now, for the task at hand and what the agent saw, read and measured."""

import re

from demo.scene import Scene
from demo.slots import filled
from skillhub.curation.phrases import Move, listed

_READING = re.compile(r"(above|below|over|under) (-?\d+(?:\.\d+)?)", re.IGNORECASE)
_COMPARED = re.compile(r"reading for (.+?) is (.+?) than (?:the one )?for (.+)$", re.IGNORECASE)
_WHEN = re.compile(r"(greater|smaller) \(when (.+?) is (.+?)\)")
_EQUAL = re.compile(r"^(.+?) is (.+)$")
_TOLD = re.compile(r'you read "([^"]+)"', re.IGNORECASE)
_SEEN = re.compile(r'you see "([^"]+)"', re.IGNORECASE)


def holds(scene: Scene, condition: str) -> bool:
    """Whether a condition in words is true now: a number against a bound, two readings, or something in sight."""
    text = filled(Move("", (condition,)), scene.slots).args[0]
    compared, reading, seen = _COMPARED.search(text), _READING.search(text), _SEEN.search(text)
    told = _TOLD.search(text)
    if told:
        return any(told[1].lower() in map(str.lower, listed(answer)) for answer in scene.told)
    if compared:
        left, right = scene.readings.get(compared[1], 0.0), scene.readings.get(compared[3], 0.0)
        cases = [sign for sign, actual, value in _WHEN.findall(compared[2]) if actual == value]
        return (left > right) == ("greater" in (cases or [compared[2]]))
    if reading and scene.last_reading is not None:
        return (scene.last_reading > float(reading[2])) == (reading[1].lower() in {"above", "over"})
    equal = _EQUAL.match(text)
    if equal and not seen:
        return equal[1].lower() in equal[2].lower().split(" or ")
    return bool(seen) and seen[1].lower() in scene.turn.observation.lower()
