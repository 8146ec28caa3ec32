"""Which words of a version stand for it in vector space: its name, its description and the task it is for."""

import re
from itertools import zip_longest

_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE)
_TASK_HEADINGS = ("task", "when to use", "when to use this skill", "goal")
_MAX_TASK_CHARACTERS = 800


def passage(*, name: str, description: str, document: str) -> str:
    """One text for one vector; short, because a small model reads only its first 256 tokens."""
    return "\n".join(part for part in (f"{name.replace('-', ' ')}. {description}", task_section(document)) if part)


def task_section(document: str) -> str:
    """What stands under the first heading that says when to use the document; empty where there is none."""
    headings = list(_HEADING.finditer(document))
    for heading, following in zip_longest(headings, headings[1:]):
        if heading[1].casefold() in _TASK_HEADINGS:
            section = document[heading.end() : following.start() if following else len(document)]
            return section.strip()[:_MAX_TASK_CHARACTERS]
    return ""
