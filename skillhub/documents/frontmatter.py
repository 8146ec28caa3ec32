"""The YAML block of a SKILL.md -> strings, lists and mappings of strings, under the strict subset of the format.

Flow collections, anchors, tags and duplicate keys are refused, as the reference validator does; no scalar becomes a number,
a date or a boolean. Reads the event stream of the YAML parser, so nothing is ever constructed from a tag.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from skillhub.errors import Invalid

MAX_DEPTH = 8
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Value = str | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True)
class Frontmatter:
    """Top-level fields, in the order written."""

    fields: dict[str, Value]
    lines: dict[str, int]
    """Line of the file each top-level key stands on."""
    commented: tuple[str, ...] = ()
    """Top-level keys whose plain value is followed by ` # ...` on its line, which YAML drops."""


def fault(path: str, line: int, message: str) -> dict[str, Any]:
    """One entry of `Invalid.errors`."""
    return {"path": f"/document/{path}".rstrip("/"), "line": line, "message": message}


def refuse(line: int, message: str) -> Invalid:
    return Invalid(f"line {line}: {message}", errors=[fault("frontmatter", line, message)])


def read(text: str) -> Frontmatter:
    """Parse the text between the two `---` lines. `text` starts with the line break that ends line 1.

    Errors: Invalid, with the line in the file.
    """
    builder = _Builder(text)
    for event in _events(text):
        builder.take(event)
    if not isinstance(builder.root, dict):
        raise Invalid("line 1: the frontmatter must be a YAML mapping", path="/document/frontmatter")
    return Frontmatter(builder.root, builder.lines, tuple(builder.commented))


def _events(text: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise refuse(line, f"not valid YAML: {error.problem or error.context}{_hint(error)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise refuse(line, f"character U+{ord(error.character):04X} may not stand in the frontmatter") from error


def _hint(error: yaml.MarkedYAMLError) -> str:
    return ": put the value in double quotes" if "mapping values are not allowed" in (error.problem or "") else ""


@dataclass
class _Open:
    """A collection being read, and the key that waits for its value."""

    value: list | dict
    key: str | None = None


class _Builder:
    """Turns events into values; refuses what the format leaves out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[_Open] = []
        self.root: Value | None = None
        self.lines: dict[str, int] = {}
        self.commented: list[str] = []
        self.documents = 0

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        self._check(event, line)
        if isinstance(event, yaml.MappingStartEvent):
            self._enter({}, line)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._enter([], line)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._place(self.stack.pop().value)

    def _check(self, event: Any, line: int) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise refuse(line, "anchors and aliases are not allowed")
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None):
            raise refuse(line, "tags are not allowed")
        if getattr(event, "flow_style", False):
            raise refuse(line, "write lists and mappings in block style, one entry a line")
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise refuse(line, "only one YAML document may stand in the frontmatter")

    def _enter(self, value: list | dict, line: int) -> None:
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            raise refuse(line, "keys must be plain text")
        if len(self.stack) >= MAX_DEPTH:
            raise refuse(line, f"nested deeper than {MAX_DEPTH} levels")
        self.stack.append(_Open(value))

    def _scalar(self, event: Any, line: int) -> None:
        if _UNSTORABLE.search(event.value):
            raise refuse(line, "an escape that stands for a NUL character or half a surrogate pair")
        top = self.stack[-1] if self.stack else None
        if top is None or isinstance(top.value, list) or top.key is not None:
            if top is not None and len(self.stack) == 1 and top.key and self._drops_comment(event):
                self.commented.append(top.key)
            self._place(event.value)
            return
        if event.value in top.value:
            raise refuse(line, f"the key {event.value!r} stands there twice")
        top.key = event.value
        if len(self.stack) == 1:
            self.lines[event.value] = line

    def _drops_comment(self, event: Any) -> bool:
        rest = self.text[event.end_mark.index :].splitlines()[:1]
        return not event.style and bool(event.value) and bool(rest) and rest[0].lstrip(" \t").startswith("#")

    def _place(self, value: Value) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
        else:
            top.value[top.key], top.key = value, None
