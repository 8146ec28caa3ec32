"""Edit operations against the sections of a document; in come a SKILL.md and operations, out comes the new SKILL.md.

    {"op": "add", "anchor": "steps", "text": "4. Wait."}            at the end of the section; "" is the document
    {"op": "add", "anchor": "steps", "after": "Heat it.", "text"}   below the line of that sentence
    {"op": "replace", "anchor": "steps", "text": "..."}             what stands under the heading, subsections excepted
    {"op": "replace", "anchor": "steps", "sentence": "Heat it.", "text": "Heat it slowly."}
    {"op": "remove", "anchor": "steps"}                             heading, content and subsections; with "sentence" only that
    {"op": "move", "anchor": "cautions", "after": "steps"}          with subsections; "after": "" moves it below the title
    {"op": "set_metadata", "key": "metadata.author", "value": "x"}  a frontmatter field or `metadata.<key>`; null removes it

Everything an operation does not name keeps its bytes. Operations apply in order, each to the result of the one before.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillhub.documents.sections import Section, Sentence, lines, newline, normalised, sections, sentences
from skillhub.documents.skillmd import FIELDS, Document, parse
from skillhub.errors import Invalid

MAX_OPERATIONS = 200
MAX_LINES_EDITED = 200_000
"""Operations times lines: each operation reads the whole document again."""
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|---")

Operation = Mapping[str, Any]


def apply(document: str, operations: Sequence[Operation]) -> str:
    """The document after all operations. Errors: Invalid with the path of the faulty operation, e.g. `/operations/2/anchor`."""
    most = max(1, min(MAX_OPERATIONS, MAX_LINES_EDITED // (document.count("\n") + 1)))
    if len(operations) > most:
        raise Invalid(f"at most {most} operations are allowed on a document of this length", path="/operations")
    for index, operation in enumerate(operations):
        step = _Step(parse(document), operation, f"/operations/{index}")
        document = step.result()
        _check(document, step)
    return document


class _Step:
    """One operation on one document."""

    def __init__(self, document: Document, operation: Operation, path: str) -> None:
        self.document = document
        self.operation = operation
        self.path = path
        self.lines = lines(document.text)
        self.newline = newline(document.text)

    def result(self) -> str:
        name = self.operation.get("op")
        if not isinstance(name, str) or name not in _OPERATIONS:
            raise self.refused("op", f"must be one of {', '.join(_OPERATIONS)}")
        take, allowed = _OPERATIONS[name]
        for key in self.operation:
            if key != "op" and key not in allowed:
                raise self.refused(key, f"is not a field of {name!r}")
        return take(self)

    def refused(self, key: str, why: str) -> Invalid:
        return Invalid(f"{self.path}/{key}: {why}", path=f"{self.path}/{key}")

    def text(self, key: str) -> str:
        value = self.operation.get(key)
        if not isinstance(value, str):
            raise self.refused(key, "must be a text")
        return value

    def section(self, key: str = "anchor") -> Section:
        anchor = self.text(key)
        found = [section for section in sections(self.document) if section.anchor == anchor]
        if not found:
            raise self.refused(key, f"there is no section {anchor!r}")
        return found[0]

    def sentence(self, key: str, section: Section) -> Sentence:
        wanted = normalised(self.text(key))
        inside = [s for s in sentences(self.document) if section.content_line <= s.line < section.content_end]
        found = [s for s in inside if normalised(s.text) == wanted]
        if len(found) != 1:
            raise self.refused(key, f"stands {len(found)} times in section {section.anchor!r}, once is needed")
        return found[0]

    def spliced(self, start: int, end: int, new: Sequence[str]) -> str:
        """The text with the lines from `start` up to `end` (from 1, exclusive) replaced; an open last line above is closed."""
        above = self.lines[: start - 1]
        if new and above and not above[-1].endswith(("\r", "\n")):
            above[-1] += self.newline
        return "".join([*above, *new, *self.lines[end - 1 :]])

    def apart(self, start: int, end: int, new: Sequence[str]) -> str:
        """The same up to a heading: if it is an underlined one, it must not take what now stands above it into its title."""
        above, below = [*self.lines[: start - 1], *new][-1:], self.lines[end - 1 : end]
        touching = all(lines and lines[0].strip() for lines in (above, below)) and not below[0].lstrip().startswith("#")
        return self.spliced(start, end, [*new, self.newline] if touching else new)

    def block(self, text: str) -> list[str]:
        """Text as lines with the document's own line break."""
        return [line.rstrip("\r\n") + self.newline for line in lines(text)]


def _add(step: _Step) -> str:
    section = step.section()
    text = step.block(step.text("text"))
    if "after" in step.operation:
        sentence = step.sentence("after", section)
        at = sentence.line + sentence.text.count("\n") + 1
        return step.spliced(at, at, text)
    at = section.end if section.anchor else len(step.lines) + 1
    while at > section.content_line and not step.lines[at - 2].strip():
        at -= 1
    gap = [] if _continues_list(step, at, text) else [step.newline]
    return step.apart(at, at, [*gap, *text])


def _continues_list(step: _Step, at: int, text: Sequence[str]) -> bool:
    marker = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
    return bool(text and marker.match(text[0]) and at > 1 and marker.match(step.lines[at - 2]))


def _replace(step: _Step) -> str:
    section = step.section()
    if "sentence" in step.operation:
        return _with_sentence(step, section, step.text("text"))
    end = section.content_end
    while end > section.content_line and not step.lines[end - 2].strip():
        end -= 1
    start = section.content_line
    while start < end and not step.lines[start - 1].strip():
        start += 1
    return step.apart(start, end, step.block(step.text("text")))


def _remove(step: _Step) -> str:
    section = step.section()
    if "sentence" in step.operation:
        return _with_sentence(step, section, "")
    if not section.anchor:
        return step.apart(section.content_line, section.content_end, [])
    return step.apart(section.first_line, section.end, [])


def _with_sentence(step: _Step, section: Section, new: str) -> str:
    """The sentence replaced where it stands; a line that becomes empty, or a bare list marker, goes."""
    sentence = step.sentence("sentence", section)
    start, end = sentence.line, sentence.line + sentence.text.count("\n") + 1
    block = "".join(step.lines[start - 1 : end - 1])
    pattern = r"\s+".join(re.escape(word) for word in sentence.text.split())
    changed = re.sub(pattern, lambda _: new, block, count=1)
    if not new and not re.sub(r"^[\s>]*(?:[-*+]|\d{1,9}[.)])?", "", changed).strip():
        changed = ""
    return step.spliced(start, end, [changed])


def _move(step: _Step) -> str:
    section, after = step.section(), step.section("after")
    if not section.anchor:
        raise step.refused("anchor", "what stands before the first heading cannot be moved")
    target = after.end if after.anchor else _front(step)
    if section.first_line <= after.first_line < section.end:
        raise step.refused("after", "a section cannot be moved into itself")
    moved = step.lines[section.first_line - 1 : section.end - 1]
    if not moved[-1].endswith(("\r", "\n")):
        moved[-1] += step.newline
    rest = [*step.lines[: section.first_line - 1], *step.lines[section.end - 1 :]]
    at = target - 1 if target <= section.first_line else target - 1 - len(moved)
    if at and not rest[at - 1].endswith(("\r", "\n")):
        rest[at - 1] += step.newline
    gap = [step.newline] if at and rest[at - 1].strip() else []
    tail = [step.newline] if at < len(rest) and moved[-1].strip() else []
    return "".join([*rest[:at], *gap, *moved, *tail, *rest[at:]])


def _front(step: _Step) -> int:
    """Line where the sections start: below the title and its text, or below what stands before the first heading."""
    found = sections(step.document)
    has_title = [section.level for section in found].count(1) == 1 and found[1].level == 1
    return found[1].end if has_title else found[0].end


def _set_metadata(step: _Step) -> str:
    if "value" not in step.operation:
        raise step.refused("value", "is missing; null removes the field")
    key, value = step.text("key"), step.operation["value"]
    if value is not None and not isinstance(value, str):
        raise step.refused("value", "must be a text, or null to remove the field")
    if key.startswith("metadata."):
        return _set_entry(step, key, value)
    if key not in FIELDS or key in ("name", "metadata") or (key == "description" and value is None):
        raise step.refused("key", "is not a field that can be set; the name of a skill never changes")
    start, end = _field_span(step, key)
    return step.spliced(start, end, [] if value is None else step.block(f"{key}: {_scalar(value)}"))


def _set_entry(step: _Step, key: str, value: str | None) -> str:
    """One entry of `metadata` set or removed; the others keep their lines. The field goes with its last entry."""
    entry, inner = key.removeprefix("metadata."), step.document.fields.get("metadata") or {}
    if not entry or not isinstance(inner, dict):
        raise step.refused("key", "the document's metadata is not a mapping, or the key is empty")
    if value is None:
        span = _field_span(step, "metadata" if list(inner) == [entry] else key)
        return step.spliced(*span, []) if entry in inner else step.document.text
    written = f"{_scalar(entry)}: {_scalar(value)}"
    if not inner:
        return step.spliced(*_field_span(step, "metadata"), step.block(f"metadata:\n  {written}"))
    first = step.lines[step.document.field_lines[f"metadata.{next(iter(inner))}"] - 1]
    span = _field_span(step, key) if entry in inner else (_field_span(step, "metadata")[1],) * 2
    return step.spliced(*span, step.block(re.match(r" *", first).group() + written))


def _field_span(step: _Step, key: str) -> tuple[int, int]:
    """Lines of a field or of an entry of `metadata`; the empty span before the closing line where it is not there."""
    closing, known = step.document.closing_line, step.document.field_lines
    if key not in known:
        return closing, closing
    start = known[key]
    beside = (line for other, line in known.items() if "." in key or "." not in other)
    end = min((line for line in beside if line > start), default=closing)
    while end > start + 1 and re.match(r"#|\s*$|\.\.\.", step.lines[end - 2]):
        end -= 1
    return start, end


def _scalar(value: str) -> str:
    """A YAML scalar that reads as exactly this text: what YAML would fold or refuse, and `---`, as escapes."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()[0]):04x}{match.group()[1:]}", quoted)


def _check(document: str, step: _Step) -> None:
    try:
        changed = parse(document, name=step.document.name)
    except Invalid as error:
        faults = [{**fault, "path": step.path} for fault in error.errors]
        raise Invalid(f"{step.path}: the result is not valid: {error.detail}", errors=faults) from error
    if step.operation["op"] in ("add", "replace"):
        _check_others(step, changed)


def _check_others(step: _Step, changed: Document) -> None:
    """Refuse a text that swallows sections after it (a code fence left open) or takes the anchor of one (a second heading)."""
    edited, before, after = step.section(), _own_texts(step.document), _own_texts(changed)
    inside = [s.anchor for s in sections(step.document) if edited.first_line <= s.first_line < edited.end]
    if not edited.anchor:
        inside.append(next(reversed(before)))  # what is added to the document lands in its last section
    for anchor, text in before.items():
        if anchor not in inside and after.get(anchor) != text:
            raise step.refused("text", f"would change the section {anchor!r} too")


def _own_texts(document: Document) -> dict[str, str]:
    """Anchor -> heading and content without subsections, in the order they stand."""
    text = lines(document.text)
    return {s.anchor: "".join(text[s.first_line - 1 : s.content_end - 1]).rstrip() for s in sections(document)}


_OPERATIONS: dict[str, tuple[Callable[[_Step], str], frozenset[str]]] = {
    "add": (_add, frozenset({"anchor", "text", "after"})),
    "replace": (_replace, frozenset({"anchor", "text", "sentence"})),
    "remove": (_remove, frozenset({"anchor", "sentence"})),
    "move": (_move, frozenset({"anchor", "after"})),
    "set_metadata": (_set_metadata, frozenset({"key", "value"})),
}
