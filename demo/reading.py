"""Skill documents as shown in a context -> instructions: what to do, how often, under which condition, with which choices.

The reader knows English imperatives and the agent's interface; it knows no task.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skillhub.curation.phrases import Move, parse
from skillhub.curation.template import Template, read_template

_ITEM = re.compile(r"^\s*(?:\d+[.)]|[-*])\s+(.*)$")
_REPEAT = re.compile(r'^repeat(?: up to)? (\d+) times(?: until you see "([^"]*)")?: (.*)$', re.IGNORECASE)
_EACH = re.compile(
    r'^for each \{([a-z0-9-]+)\} named after "([^"]+)" in what you read(?:, except ([^:]+))?: (.*)$', re.IGNORECASE
)
_BRANCH = re.compile(r"^if (.+?), (.+?)(?:; otherwise,? (.+))?$", re.IGNORECASE)
_OPTIONAL = re.compile(r"^if the task is not finished yet, ", re.IGNORECASE)
_AIM = re.compile(r", (?:to|so that|in order to) .*$")
_FORBIDDEN = re.compile(r"^(?:do not|don't|never) (.+?)(?::.*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Options:
    """How to fill a name that the task text does not fill."""

    name: str
    values: tuple[str, ...] = ()
    table: tuple[tuple[str, str, str], ...] = ()
    """(slot, value of the slot, what to take)."""
    holds: str = ""
    """The name of what lies inside the wanted thing."""


@dataclass(frozen=True)
class Each:
    """The things to go through: those named after `lead` in what was read, but not `apart`."""

    name: str
    lead: str
    apart: tuple[str, ...] = ()


@dataclass(frozen=True)
class Instruction:
    """One step of a document."""

    moves: tuple[Move, ...]
    times: int = 1
    until: str = ""
    condition: str = ""
    otherwise: tuple[Move, ...] = ()
    options: tuple[Options, ...] = ()
    each: Each | None = None


@dataclass(frozen=True)
class Plan:
    """What a document says."""

    template: Template | None
    about: str
    instructions: tuple[Instruction, ...]
    forbidden: tuple[Move, ...] = field(default=())

    @property
    def options(self) -> tuple[Options, ...]:
        """The meaning of every name, wherever it stands: a step that was skipped may have introduced it."""
        return tuple(o for i in self.instructions for o in i.options)


def read_document(text: str) -> Plan:
    """Read any Markdown with list items; sections called `Cautions` forbid, all others instruct."""
    about, sections = _sections(text)
    task = " ".join(sections.get("task", [])).strip()
    steps = [i for title, lines in sections.items() if title not in {"task", "cautions"} for i in _items(lines)]
    warnings = [_FORBIDDEN.match(i.rstrip(".")) for lines in sections.values() for i in _items(lines)]
    return Plan(
        template=read_template(task) if task else None,
        about=about,
        instructions=tuple(read_step(s) for s in steps if not _FORBIDDEN.match(s)),
        forbidden=tuple(parse(w[1]) for w in warnings if w),
    )


def read_step(sentence: str) -> Instruction:
    """One sentence: an imperative, a repetition or a condition, and what its names stand for."""
    text, _, where = sentence.strip().rstrip(".").partition(", where ")
    text = _OPTIONAL.sub("", text)
    options = tuple(_options(part) for part in where.split("; and ") if part)
    branch = _BRANCH.match(text)
    if branch:
        then = replace(_unconditional(branch[2]), options=options)
        return replace(then, condition=branch[1], otherwise=_moves(branch[3] or ""))
    return replace(_unconditional(text), options=options)


def _unconditional(text: str) -> Instruction:
    repeated, each = _REPEAT.match(text), _EACH.match(text)
    if repeated:
        return Instruction(_moves(repeated[3]), int(repeated[1]), repeated[2] or "")
    if each:
        apart = tuple(each[3].split(" and ")) if each[3] else ()
        return Instruction(_moves(each[4]), each=Each(each[1], each[2], apart))
    return Instruction(_moves(text))


def _moves(text: str) -> tuple[Move, ...]:
    return tuple(parse(_AIM.sub("", part.strip())) for part in text.split(";") if part.strip())


def _options(text: str) -> Options:
    name, _, meaning = text.partition(" is ")
    name = name.strip().strip("{}")
    holds = re.fullmatch(r"the one that holds \{([a-z0-9-]+)\}", meaning)
    if holds:
        return Options(name, holds=holds[1])
    if ": " in meaning:
        return Options(name, values=tuple(v.strip() for v in meaning.split(": ", 1)[1].split(",")))
    cases = re.findall(r"(.+?) when \{([a-z0-9-]+)\} is (.+?)(?:, |$)", meaning)
    table = tuple((slot, value, one) for option, slot, value in cases for one in option.split(" or "))
    return Options(name, values=tuple(dict.fromkeys(o for _, _, o in table)), table=table)


def _sections(text: str) -> tuple[str, dict[str, list[str]]]:
    """The words that say what a document is for, and its sections' lines by lowercase title."""
    head = re.match(r"^---\n(.*?)\n---\n", text, re.DOTALL)
    about = " ".join(re.findall(r"^description: *(.*)$", head[1], re.MULTILINE)) if head else ""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in text[head.end() if head else 0 :].splitlines():
        if line.startswith("#"):
            title = line.lstrip("#").strip().lower()
            about = about or title
        else:
            sections.setdefault(title, []).append(line)
    return about.strip("\"'"), sections


def _items(lines: Sequence[str]) -> list[str]:
    return [m[1] for m in map(_ITEM.match, lines) if m]
