"""General steps -> the sentences of a SKILL.md, each with the episodes behind it, and the document they make."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillhub.curation.choices import Choice
from skillhub.curation.generalise import Step
from skillhub.curation.listings import ITEM
from skillhub.curation.phrases import Move

_BARE = frozenset({"inventory"})


@dataclass(frozen=True)
class Sentence:
    """One line of a document and the numbers of the episodes that support it."""

    text: str
    episodes: tuple[int, ...]
    polarity: int = 1


def sentence(step: Step) -> str:
    """One step in words."""
    text = _core(step)
    if step.when and not step.branches:
        text = f"if {step.when}, {text}"
    if step.optional:
        text = f"if the task is not finished yet, {text}"
    if step.choices:
        text += ", where " + "; and ".join(_where(c) for c in step.choices)
    return _capital(text) + "."


def imperative(move: Move) -> str:
    """`focus on the {thing}`: an action as a person would write it."""
    args = [a if a in _BARE or a.startswith("{target") else f"the {a}" for a in move.args]
    return f" {move.link} ".join([" ".join([move.verb, *args[:1]]), *args[1:]])


def document(*, name: str, description: str, task: str, title: str, steps: Sequence[str], cautions: Sequence[str]) -> str:
    """A SKILL.md."""
    lines = ["---", f"name: {name}", f"description: {_scalar(description)}", "---", "", f"# {title}", ""]
    lines += ["## Task", "", task, "", "## Steps", "", *(f"{i}. {s}" for i, s in enumerate(steps, start=1))]
    if cautions:
        lines += ["", "## Cautions", "", *(f"- {c}" for c in cautions)]
    return "\n".join(lines) + "\n"


def slug(text: str) -> str:
    """Lowercase letters, digits and single hyphens, at most 64."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:64].strip("-")


def _core(step: Step) -> str:
    if step.branches:
        first, second = step.branches
        return f"if {first.condition}, {imperative(first.move)}; otherwise, {imperative(second.move)}"
    body = "; ".join(imperative(m) for m in step.moves)
    if step.each:
        apart = f", except {' and '.join(step.each.apart)}" if step.each.apart else ""
        return f'for each {ITEM} named after "{step.each.lead}" in what you read{apart}: {body}'
    if step.count == 1:
        return body
    until = f' until you see "{step.until}"' if step.until else ""
    return f"repeat up to {step.count} times{until}: {body}"


def _where(choice: Choice) -> str:
    name = "{" + choice.name + "}"
    if choice.holds:
        return f"{name} is the one that holds {{{choice.holds}}}"
    if choice.table:
        groups = {(slot, value): [o for s, v, o in choice.table if (s, v) == (slot, value)] for slot, value, _ in choice.table}
        cases = ", ".join(f"{' or '.join(o)} when {{{slot}}} is {value}" for (slot, value), o in groups.items())
        return f"{name} is {cases}"
    how = "the first of these in sight" if choice.ranked else "one of these"
    return f"{name} is {how}: {', '.join(choice.options)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _scalar(text: str) -> str:
    """A YAML scalar: quoted as JSON, which YAML reads, and without braces or colons that would need thought."""
    return json.dumps(text, ensure_ascii=False)
