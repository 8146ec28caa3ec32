"""SKILL.md text -> Document, by the rules of the Agent Skills format; the text itself is kept to the last byte.

Strict where the format is: what the reference validator rejects is rejected here, with the line. Where it is silently wrong
(a `---` inside a value, a ` #` that swallows the end of a description) the text is refused with a message.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skillhub.documents import plain
from skillhub.documents.frontmatter import Frontmatter, Value, fault, read, refuse
from skillhub.errors import Invalid, TooLarge

MAX_DOCUMENT_BYTES = 2 * 1024 * 1024
MAX_FRONTMATTER_CHARACTERS = 64 * 1024
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_FENCE = "---"
_BREAK = re.compile(r"\r\n|\r|\n")
_REST = re.compile(r"[ \t]*(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True)
class Document:
    """A valid SKILL.md."""

    text: str
    """Exactly what was written; what is stored, hashed, shown and exported."""
    name: str
    """Canonical form (NFKC) of the frontmatter's name."""
    description: str
    fields: dict[str, Value]
    """All frontmatter fields; every scalar is a string."""
    field_lines: dict[str, int]
    """Line of each frontmatter key and of each entry of `metadata`, as `metadata.<key>`; from 1."""
    closing_line: int
    """Line of the `---` that closes the frontmatter."""
    body: str
    """Everything after the line that closes the frontmatter, and what stands on that line behind the `---`."""
    body_line: int
    """Line of the file where the body starts, from 1; `closing_line` where the body starts on it."""

    @property
    def metadata(self) -> dict[str, str]:
        """The `metadata` mapping; nested values as their text."""
        metadata = self.fields.get("metadata")
        return {key: str(value) for key, value in metadata.items()} if isinstance(metadata, dict) else {}


def parse(source: str | bytes, *, name: str | None = None) -> Document:
    """Read and validate one SKILL.md. `name` is the folder or skill it belongs to and must match the frontmatter's.

    Errors: TooLarge; Invalid, whose `errors` carry `path`, `line` and `message` of every fault found.
    """
    text = _decoded(source)
    head_end, body_start = _frontmatter_span(text)
    source = text[len(_FENCE) : head_end]
    frontmatter = plain.read(source) or read(source)
    faults = list(_faults(frontmatter, name))
    if faults:
        raise Invalid("; ".join(f"line {f['line']}: {f['message']}" for f in faults), errors=faults)
    return Document(
        text=text,
        name=canonical_name(str(frontmatter.fields["name"])),
        description=str(frontmatter.fields["description"]).strip(),
        fields=frontmatter.fields,
        field_lines=frontmatter.lines,
        body=text[body_start:],
        body_line=_line_at(text, body_start),
        closing_line=_line_at(text, head_end),
    )


def canonical_name(name: str) -> str:
    """The one form under which a name is stored and looked up: trimmed, NFKC."""
    return unicodedata.normalize("NFKC", name.strip())


def name_faults(name: str) -> list[str]:
    """What is wrong with a canonical skill name; empty where it is valid."""
    checks = [
        (not name, "the name must not be empty"),
        (len(name) > MAX_NAME, f"the name has {len(name)} characters, at most {MAX_NAME} are allowed"),
        (name != name.lower(), "the name must be lowercase"),
        (name[:1] == "-" or name[-1:] == "-", "the name must not start or end with a hyphen"),
        ("--" in name, "the name must not hold two hyphens in a row"),
        (not all(c.isalnum() or c == "-" for c in name), "the name may hold letters, digits and hyphens only"),
    ]
    return [message for wrong, message in checks if wrong]


def _decoded(source: str | bytes) -> str:
    try:
        data = source if isinstance(source, bytes) else source.encode()
        text = data.decode()
    except UnicodeError as error:
        raise Invalid(f"SKILL.md is not valid UTF-8: {error.reason} at position {error.start}", path="/document") from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise TooLarge(f"SKILL.md has {len(data)} bytes, at most {MAX_DOCUMENT_BYTES} are allowed")
    if "\0" in text:
        line = _line_at(text, text.index("\0"))
        raise Invalid(f"line {line}: a NUL character", errors=[fault("", line, "a NUL character")])
    return text


def _frontmatter_span(text: str) -> tuple[int, int]:
    """End of the frontmatter and start of the body, as offsets."""
    if not text.startswith(_FENCE):
        raise refuse(1, "SKILL.md must start with `---`, which opens the frontmatter")
    end = text.find(_FENCE, len(_FENCE))
    if end < 0:
        raise refuse(1, "the frontmatter is not closed by a line `---`")
    if text[end - 1] not in "\r\n":
        raise refuse(
            _line_at(text, end),
            "`---` ends the frontmatter for other readers, so it may only stand at the start of its closing line",
        )
    if end > MAX_FRONTMATTER_CHARACTERS:
        raise TooLarge(f"the frontmatter has {end} characters, at most {MAX_FRONTMATTER_CHARACTERS} are allowed")
    rest = _REST.match(text, end + len(_FENCE))
    return end, rest.end() if rest else end + len(_FENCE)


def _line_at(text: str, offset: int) -> int:
    return len(_BREAK.findall(text, 0, offset)) + 1


def _faults(frontmatter: Frontmatter, name: str | None) -> Iterator[dict[str, Any]]:
    fields, lines = frontmatter.fields, frontmatter.lines
    for key in fields:
        if key not in FIELDS:
            yield fault(f"frontmatter/{key}", lines[key], f"unknown field {key!r}; allowed are {', '.join(FIELDS)}")
    for key in ("name", "description"):
        value = fields.get(key)
        if key not in fields:
            yield fault(f"frontmatter/{key}", 1, f"the field {key!r} is missing")
        elif not isinstance(value, str) or not value.strip() or key in frontmatter.symbols:
            yield fault(f"frontmatter/{key}", lines[key], f"the field {key!r} must be a text that is not empty")
        else:
            for message in _name_faults(value, name) if key == "name" else _description_faults(value, frontmatter):
                yield fault(f"frontmatter/{key}", lines[key], message)
    for message in _compatibility_faults(fields.get("compatibility", ""), frontmatter):
        yield fault("frontmatter/compatibility", lines["compatibility"], message)


def _name_faults(value: str, expected: str | None) -> Iterator[str]:
    own = canonical_name(value)
    yield from name_faults(own)
    if expected is not None and unicodedata.normalize("NFKC", expected) != own:
        yield f"the name {own!r} must be that of its folder or skill, {expected!r}"


def _description_faults(value: str, frontmatter: Frontmatter) -> Iterator[str]:
    if len(value) > MAX_DESCRIPTION:
        yield f"the description has {len(value)} characters, at most {MAX_DESCRIPTION} are allowed"
    if "description" in frontmatter.commented:
        yield "` #` starts a comment, so the rest of the description would be lost: put it in double quotes"


def _compatibility_faults(value: Value, frontmatter: Frontmatter) -> Iterator[str]:
    if not isinstance(value, str) or "compatibility" in frontmatter.symbols:
        yield "the field 'compatibility' must be a text"
    elif len(value) > MAX_COMPATIBILITY:
        yield f"compatibility has {len(value)} characters, at most {MAX_COMPATIBILITY} are allowed"
