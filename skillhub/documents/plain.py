"""Frontmatter of the plainest kind, read without a YAML parser: a tenth of the time, and the same answer.

Only what every YAML reader takes for `key: text` on a line of its own is read here; anything else is left to `frontmatter`.
"""

import re

from skillhub.documents.frontmatter import Frontmatter

_LINE = re.compile(
    r"(?P<key>name|description|license|compatibility): +"
    r"(?:(?P<plain>[A-Za-z0-9](?:[A-Za-z0-9 ,.;()/_'!?+*&%<>=-]*[A-Za-z0-9,.;()/_'!?+*&%<>=-])?)"
    r'|"(?P<quoted>[A-Za-z0-9 ,.;:()/_\'!?+*&%<>=#-]*)")'
)


def read(text: str) -> Frontmatter | None:
    """The same as `frontmatter.read`, for what it can tell at a glance; None for the rest. `text` starts with a line break."""
    fields: dict[str, str] = {}
    lines: dict[str, int] = {}
    parts = text.replace("\r\n", "\n").split("\n")
    if parts[0] or parts[-1]:
        return None
    for number, line in enumerate(parts[1:-1], start=2):
        match = _LINE.fullmatch(line)
        if match is None or match["key"] in fields:
            return None
        fields[match["key"]] = match["quoted"] if match["plain"] is None else match["plain"]
        lines[match["key"]] = number
    return Frontmatter(fields, lines) if fields else None
