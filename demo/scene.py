"""One episode as the agent lives it: it acts in the world and remembers rooms, things, readings and what it did."""

import re
from dataclasses import dataclass, field

from demo.grounding import Similarity
from demo.reading import Instruction, Plan
from demo.world import Option, Thing, Turn, World
from skillhub.curation.phrases import Move, content

_ROOM = re.compile(r"called the ([\w ]+?)\.")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_ANSWER = re.compile(r"^(\d+):\s*(.*)$", re.MULTILINE)
_REFUSED = re.compile(r"no known action|can't|cannot|not sure|unable|isn't|is not|already|doesn't", re.IGNORECASE)


@dataclass
class Scene:
    """What the agent knows in this episode."""

    world: World
    turn: Turn
    budget: int
    similar: Similarity
    plan: Plan | None = None
    """The document followed now."""
    slots: dict[str, str] = field(default_factory=dict)
    chosen: set[str] = field(default_factory=set)
    """Slots that the agent filled by a choice of its own."""
    turns: list[tuple[Turn, str, Turn]] = field(default_factory=list)
    rooms: dict[str, set[Thing]] = field(default_factory=dict)
    """Room -> the things met there."""
    opened: set[int] = field(default_factory=set)
    missed: set[tuple[str, str]] = field(default_factory=set)
    """(phrase, room) from where a search led nowhere."""
    waiting: Instruction | None = None
    """What was repeated last."""
    habits: dict[Move, str] = field(default_factory=dict)
    """What worked for a move that is being repeated: no need to look for it again."""
    readings: dict[str, float] = field(default_factory=dict)
    """Slot value last acted on -> the number read afterwards."""
    last_reading: float | None = None
    _options: list[Option] | None = None
    _subject: str = ""

    @property
    def over(self) -> bool:
        return self.turn.done or len(self.turns) >= self.budget

    @property
    def here(self) -> str:
        found = _ROOM.search(self.turn.room)
        return found[1] if found else ""

    @property
    def last_act(self) -> str:
        """The latest action that was not just the answer to a question."""
        return next((action for _, action, _ in reversed(self.turns) if not action.isdigit()), "")

    @property
    def told(self) -> list[str]:
        """The answers so far, latest first."""
        return [after.result for _, _, after in reversed(self.turns)]

    def act(self, action: str) -> bool:
        """Take an action (and tell the simulator which of several was meant: what was acted on before); True unless refused."""
        before = self.last_act
        self._step(action)
        while self.turn.result.startswith("Ambiguous request") and not self.over:
            self._step(_meant(self.turn.result, before))
        self._note(action)
        return not _REFUSED.search(self.turn.result.split("\n")[0])

    def options(self) -> list[Option]:
        """The actions open to the agent now."""
        if self._options is None:
            self._options = self.world.options()
            self.rooms[self.here] = {o.things[0] for o in self._options if len(o.things) == 1}
        return self._options

    def things(self, verb: str, position: int = 0) -> set[Thing]:
        """What can stand at a position after a verb now."""
        return {o.things[position] for o in self.options() if o.verb == verb and len(o.things) > position}

    def carries(self, phrase: str) -> bool:
        return any(content(phrase) <= content(line) for line in self.turn.inventory.splitlines()[1:])

    def _step(self, action: str) -> None:
        before, self.turn, self._options = self.turn, self.world.act(action), None
        self.turns.append((before, action, self.turn))

    def _note(self, action: str) -> None:
        for value in self.slots.values():
            if content(value) <= content(action):
                self._subject = value
        numbers = _NUMBER.findall(self.turn.result) if not self.turn.result.startswith("This ") else []
        if numbers:
            self.last_reading = float(numbers[-1])
            self.readings[self._subject] = self.last_reading


def _meant(question: str, before: str) -> str:
    """The number of the answer that has most in common with the act before."""
    answers = _ANSWER.findall(question) or [("0", "")]
    return max(answers, key=lambda a: (len(content(a[1]) & content(before)), -int(a[0])))[0]
