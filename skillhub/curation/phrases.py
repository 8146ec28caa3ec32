"""Words of tasks and actions: in come strings, out come tokens, parsed moves and small comparisons of noun phrases."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"\{[a-z0-9-]+\}|(?<![\w.])-?\d+(?:\.\d+)?|\w+(?:[-']\w+)*|[^\w\s]")
_PARTICLES = frozenset({"on", "off", "up", "down", "out", "over", "away", "back", "to", "at", "in", "around"})
_LINKS = re.compile(r"^(.+?) (to|into|onto|on|with) (.+)$")
_POURING = frozenset({"pour", "dunk", "put", "place"})
_STOP = frozenset({"a", "an", "the", "in", "on", "of", "to", "containing", "called", "your", "inventory"})


@dataclass(frozen=True)
class Move:
    """One action in parts: `move(verb) apple(args[0]) to(link) box(args[1])`."""

    verb: str
    args: tuple[str, ...] = ()
    link: str = ""

    def text(self) -> str:
        return f" {self.link} ".join([" ".join([self.verb, *self.args[:1]]), *self.args[1:]])


def tokens(text: str) -> list[str]:
    """Words, numbers, `{slots}` and punctuation marks, in order, as written."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=65536)
def content(phrase: str) -> frozenset[str]:
    """The words that carry the meaning of a noun phrase, in lower case."""
    words = frozenset(t.lower() for t in tokens(phrase) if t[0] == "{" or t[-1].isalnum())
    return words - _STOP or words


@lru_cache(maxsize=65536)
def overlap(left: str, right: str) -> float:
    """Jaccard similarity of the content words of two phrases."""
    a, b = content(left), content(right)
    return len(a & b) / len(a | b) if a | b else 1.0


def parse(action: str) -> Move:
    """Read an action or an imperative sentence, its noun phrases cleaned; an unknown verb is its first word."""
    move = split(action)
    return Move(move.verb, tuple(clean(a) for a in move.args), move.link)


def split(action: str) -> Move:
    """Cut an action into verb, noun phrases and preposition, every word kept."""
    words = action.split()
    if not words:
        return Move("")
    cut = 2 if len(words) > 1 and words[1] in _PARTICLES else 1
    verb, rest = " ".join(words[:cut]).lower(), " ".join(words[cut:])
    if not rest:
        return Move(verb)
    linked = _LINKS.match(rest) if cut == 1 else None
    if linked:
        return Move(verb, (linked[1], linked[3]), linked[2])
    if words[0].lower() in _POURING and " in " in rest:
        return _poured(verb, rest)
    return Move(verb, (rest,))


def clean(phrase: str) -> str:
    """Drop articles, `in inventory` and words said twice ("egg butterfly egg")."""
    words = re.sub(r"\s+in (?:the |your )?inventory\b", "", phrase).split()
    kept = [w for i, w in enumerate(words) if w not in words[:i] or w in _STOP]
    if len(kept) > 1 and kept[0].lower() in {"the", "a", "an"}:
        kept = kept[1:]
    return " ".join(w for i, w in enumerate(kept) if i == 0 or w not in {"the", "a", "an"}) or phrase


def mentions(text: str, phrase: str) -> bool:
    """Whether one line of `text` names everything in `phrase`."""
    wanted = content(phrase)
    return any(wanted <= content(part) for part in listed(text))


def listed(text: str) -> list[str]:
    """The things that a description lists: its lines, cut at commas, brackets and full stops."""
    return [part.strip() for part in re.split(r"[\n,().:]+", text) if part.strip()]


def first_seen(values: Iterable[str]) -> list[str]:
    """Distinct values in order of appearance."""
    return list(dict.fromkeys(values))


def _poured(verb: str, rest: str) -> Move:
    """`pour A in B` where A may itself end with a place ("blue paint in art studio in bowl")."""
    parts = rest.split(" in ")
    cut = 2 if len(parts) > 2 else 1
    return Move(verb, (" in ".join(parts[:cut]), " in ".join(parts[cut:])), "into")
