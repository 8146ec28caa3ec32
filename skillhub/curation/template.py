"""Task texts of one kind -> one text with named slots, and back: a text and a template -> the value of each slot."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from skillhub.curation.phrases import tokens

_HOLE = "{}"
_PLACE_WORDS = frozenset({"in", "around", "at", "near"})
_PLAIN = frozenset(
    {
        "a",
        "an",
        "the",
        "is",
        "are",
        "of",
        "to",
        "on",
        "and",
        "or",
        "which",
        "when",
        "then",
        "with",
        "you",
        "it",
        "into",
        "in",
        "at",
        "for",
        "from",
        "by",
    }
)


@dataclass(frozen=True)
class Template:
    """Tokens of a task text where `{name}` stands for what varies."""

    parts: tuple[str, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p[1:-1] for p in self.parts if p[0] == "{"))

    def text(self) -> str:
        joined = re.sub(r" ([,.;:?!)\]])", r"\1", " ".join(self.parts))
        joined = re.sub(r"([(\[]) ", r"\1", joined)
        return re.sub(r"' ([^']+) '", r"'\1'", re.sub(r"(\w) \((\w)\)", r"\1(\2)", joined))

    def match(self, task: str, *, at_least: float = 0.7) -> dict[str, str] | None:
        """Slot values found in `task`; None where the text is of another kind.

        Small differences of wording are bridged by aligning tokens; `at_least` is the share of fixed tokens to be found.
        Where words around a slot differ too, the whole phrase is a key of its own (`{colour} lamp` -> `buzzer`).
        """
        found = self._pattern().fullmatch(" ".join(tokens(task)))
        if found:
            return {name.replace("_", "-")[2:]: value.strip() for name, value in found.groupdict().items()}
        return self._aligned(tokens(task), at_least)

    def is_exact(self, task: str) -> bool:
        """Whether `task` has the very words of the template around its slots."""
        return self._pattern().fullmatch(" ".join(tokens(task))) is not None

    def _pattern(self) -> re.Pattern[str]:
        seen: set[str] = set()
        pieces = []
        for part in self.parts:
            if part[0] != "{":
                pieces.append(re.escape(part))
                continue
            name = "s_" + part[1:-1].replace("-", "_")
            pieces.append(f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
            seen.add(name)
        return re.compile(" ".join(pieces), re.IGNORECASE)

    def _aligned(self, words: list[str], at_least: float) -> dict[str, str] | None:
        fixed = sum(p[0] != "{" for p in self.parts)
        matcher = SequenceMatcher(None, [p.lower() for p in self.parts], [w.lower() for w in words], autojunk=False)
        values: dict[str, str] = {}
        same = 0
        for tag, a0, a1, b0, b1 in matcher.get_opcodes():
            same += (a1 - a0) if tag == "equal" else 0
            slots = [p for p in self.parts[a0:a1] if p[0] == "{"]
            if tag == "replace" and len(slots) == 1:
                values.setdefault(slots[0][1:-1], " ".join(words[b0:b1]))
                values.setdefault(" ".join(self.parts[a0:a1]), " ".join(words[b0:b1]))
        return values if fixed and same / fixed >= at_least else None


def read_template(text: str) -> Template:
    """The template written in a document."""
    return Template(tuple(tokens(text)))


def learn_template(texts: Sequence[str]) -> Template:
    """Anti-unify task texts: tokens common to all stay, what varies becomes a slot named after its neighbours."""
    parts = tokens(texts[0])
    for text in texts[1:]:
        parts = _common(parts, tokens(text))
    holes = [f"{{hole-{i}}}" for i in range(parts.count(_HOLE))]
    numbered = Template(tuple(holes.pop(0) if p == _HOLE else p for p in parts))
    values = [numbered.match(text, at_least=0.0) or {} for text in texts]
    return _named(numbered, values)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each `{slot}` that has a value; phrases around slots that have one go first."""
    for phrase in (k for k in values if "{" in k):
        text = text.replace(phrase, values[phrase])
    return re.sub(r"\{([a-z0-9-]+)\}", lambda m: values.get(m[1], m[0]), text)


def _common(left: list[str], right: list[str]) -> list[str]:
    low = [t.lower() for t in right]
    merged: list[str] = []
    for tag, a0, a1, _, _ in SequenceMatcher(None, [t.lower() for t in left], low, autojunk=False).get_opcodes():
        if tag == "equal":
            merged += left[a0:a1]
        elif not merged or merged[-1] != _HOLE:
            merged.append(_HOLE)
    return [p for i, p in enumerate(merged) if p != _HOLE or i == 0 or merged[i - 1] != _HOLE]


def _named(template: Template, values: Sequence[Mapping[str, str]]) -> Template:
    """Give holes that always hold the same value one name, and each name a meaning a reader can guess."""
    by_values: dict[tuple[str, ...], str] = {}
    taken: Counter[str] = Counter()
    parts: list[str] = []
    for i, part in enumerate(template.parts):
        if part[0] != "{":
            parts.append(part)
            continue
        key = tuple(v.get(part[1:-1], "").lower() for v in values)
        if key not in by_values:
            base = _guess(template.parts, i, key)
            taken[base] += 1
            by_values[key] = f"{{{base}-{taken[base]}}}" if taken[base] > 1 else f"{{{base}}}"
        parts.append(by_values[key])
    return Template(tuple(parts))


def _guess(parts: Sequence[str], i: int, values: tuple[str, ...]) -> str:
    if all(re.fullmatch(r"-?\d+(\.\d+)?", v) for v in values):
        return "number"
    after = parts[i + 1].lower() if i + 1 < len(parts) else ""
    if after.isalpha() and after not in _PLAIN:
        return after
    before = [p.lower() for p in parts[max(0, i - 2) : i]]
    located = before and (before[-1] in _PLACE_WORDS or (before[-1] == "the" and before[0] in _PLACE_WORDS))
    return "place" if located else "thing"
