"""Text that a person does not see and a model reads: where it stands, and what it says.

Tag characters (U+E0000 to U+E007F) outside a flag emoji, runs of variation selectors, zero-width characters inside words or in
runs, and blank space that pushes what follows out of sight; apart from these, bidirectional controls that show a text turned.
Emoji, Persian and Indic joiners, and right-to-left marks pass. All of it takes time in proportion to the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_BLANK_LINES = 200
MAX_BLANK_CHARACTERS = 2000
"""White space in one line that text may follow."""

_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_ZERO_WIDTH = "\u180e\u200b\u200c\u200d\u2060-\u2064\ufeff"
_PATTERNS = {
    "hidden text in tag characters": re.compile("[\U000e0000-\U000e007f]+"),
    "hidden text in variation selectors": re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"),
    "hidden text in zero-width characters": re.compile(f"[{_ZERO_WIDTH}]{{2,}}"),
    "a zero-width character inside a word": re.compile(f"(?<=[A-Za-z0-9])[{_ZERO_WIDTH}](?=[A-Za-z0-9])"),
}
_REVERSING = re.compile("[\u202d\u202e]")
_OPENING, _CLOSING = re.compile("[\u202a\u202b\u2066-\u2068]"), re.compile("[\u202c\u2069]")
_BLANK = re.compile(rf"(?<!\s)\s{{{MAX_BLANK_LINES},}}(?=\S)")


class Hidden(NamedTuple):
    """What is hidden, from `start` on."""

    start: int
    message: str


def find(text: str) -> list[Hidden]:
    """What a text hides, in order. A byte order mark at its start is none."""
    return sorted([*_characters(text.removeprefix("\ufeff"), shift=text.startswith("\ufeff")), *_padding(text)])


def turned(text: str) -> list[Hidden]:
    """Where a text is shown in another order than it is read: overrides of direction, changes that their line leaves open."""
    found = [Hidden(match.start(), "a character that reverses the text on the screen") for match in _REVERSING.finditer(text)]
    return sorted([*found, *_turns(text)])


def _characters(text: str, *, shift: int) -> Iterator[Hidden]:
    if text.isascii():
        return
    text = _FLAG.sub(lambda flag: " " * len(flag.group()), text)
    for what, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            yield Hidden(match.start() + shift, what + _said(match.group()))


def _turns(text: str) -> Iterator[Hidden]:
    start = 0
    for line in text.split("\n") if _OPENING.search(text) else ():
        if len(_OPENING.findall(line)) > len(_CLOSING.findall(line)):
            yield Hidden(start, "a change of direction that is not closed on its line")
        start += len(line) + 1


def _said(characters: str) -> str:
    """The ASCII that tag characters and variation selectors stand for."""
    codes = [_code(ord(character)) for character in characters]
    said = "".join(chr(code) for code in codes if 0x20 <= code < 0x7F)
    return f": {said!r}" if said and any(ord(character) > 0xFE00 for character in characters) else ""


def _code(point: int) -> int:
    """The byte a character carries: U+E0041 is `A`; the 256 variation selectors count from 0."""
    if 0xE0000 <= point <= 0xE007F:
        return point - 0xE0000
    if 0xFE00 <= point <= 0xFE0F:
        return point - 0xFE00
    return point - 0xE0100 + 16 if 0xE0100 <= point <= 0xE01EF else 0


def _padding(text: str) -> Iterator[Hidden]:
    for match in _BLANK.finditer(text):
        blank = match.group().splitlines()
        if len(blank) > MAX_BLANK_LINES:
            yield Hidden(match.start(), f"{len(blank) - 1} blank lines push what follows out of sight")
        elif len(blank[-1]) > MAX_BLANK_CHARACTERS:
            yield Hidden(match.start(), f"{len(blank[-1])} spaces push what follows out of sight")
