"""What may not be published, and what a reader should look at: in comes a skill's text and files, out come places.

This is apart from the format: a text can be a valid SKILL.md and hide an order, or hold a key.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from skillhub.documents.archive import BundledFile
from skillhub.errors import Invalid
from skillhub.safety import hidden, secrets

MAX_FINDINGS = 20
"""Of each kind, listed of one skill: who looks at the first twenty need not see ten thousand."""
_DOCUMENT = "/document"
_BREAK = re.compile(r"\r\n|\r|\n")
_SUSPECT = {
    "an HTML comment, which a rendered page does not show": re.compile(r"<!--"),
    "a download that runs at once": re.compile(
        r"\b(?:curl|wget|iwr|irm)\b[^\n|]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:(?:ba|z|da)?sh|iex|python3?)\b"
    ),
    "base64 that runs at once": re.compile(
        r"\bbase64\b[^\n|]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:(?:ba|z|da)?sh|python3?|perl)\b"
    ),
}
_PLACEHOLDER = re.compile(
    r"(?i)your|example|sample|placeholder|change_?me|dummy|fake|redacted|replace|insert|xxx|\*\*\*|\.\.\."
)
_REFERENCE = re.compile(r"(?i)[$%{<]|process\.env|environ|getenv|secrets?\.|config\.|settings\.|\bpass(?:word)?\d{0,4}\Z")
"""What stands where a credential would: a variable, or the word itself."""
_NAMED = ("secret", "credential", "url password")
"""Kinds that only their surroundings mark, so that prose and examples can look the same."""


class Finding(NamedTuple):
    """Something at a place."""

    path: str
    """`/document`, or `/files/<path>`."""
    line: int
    message: str


def check(document: str, files: Iterable[BundledFile] | None = None) -> None:
    """Refuse what hides text or holds a credential. Errors: Invalid with `path`, `line` and `message` of each place."""
    found = refusals(document, files or ())
    if found:
        said = "; ".join(f"{finding.path} line {finding.line}: {finding.message}" for finding in found)
        raise Invalid(said, errors=[finding._asdict() for finding in found])


def refusals(document: str, files: Iterable[BundledFile] = ()) -> list[Finding]:
    """Hidden text and credentials in the document and in the files that are text; the first `MAX_FINDINGS`."""
    found = (Finding(path, _line(text, at), why) for path, text in _texts(document, files) for at, why in _refused(path, text))
    return list(islice(found, MAX_FINDINGS))


def warnings(document: str, files: Iterable[BundledFile] = ()) -> list[Finding]:
    """What is allowed and worth a look: HTML comments, turned text, and commands that run what they fetch or decode."""
    turns = (Finding(_DOCUMENT, _line(document, turn.start), turn.message) for turn in hidden.turned(document))
    found = (
        Finding(path, _line(text, match.start()), what)
        for path, text in _texts(document, files)
        for what, pattern in _SUSPECT.items()
        for match in pattern.finditer(text)
    )
    return list(islice(chain(turns, found), MAX_FINDINGS))


def _texts(document: str, files: Iterable[BundledFile]) -> Iterator[tuple[str, str]]:
    yield _DOCUMENT, document
    for file in files:
        try:
            yield f"/files/{file.path}", file.content.decode()
        except UnicodeDecodeError:
            continue  # not a text


def _refused(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Turned text only where nobody looks: a page shows the document with such characters made visible, but no bundled file."""
    for found in [*hidden.find(text), *(hidden.turned(text) if path != _DOCUMENT else ())]:
        yield found.start, found.message
    for secret in secrets.find(text):
        if _is_real(secret.kind, text[secret.start : secret.end]):
            yield secret.start, f"a credential ({secret.kind}); take it out, and revoke it if it is real"


def _is_real(kind: str, value: str) -> bool:
    if _PLACEHOLDER.search(value):
        return False
    password = value.rpartition(":")[2]
    mixed = any(c.isdigit() for c in password) and any(c.isalpha() for c in password)
    return kind not in _NAMED or (mixed and len(password) >= 8 and not _REFERENCE.search(value))


def _line(text: str, offset: int) -> int:
    return len(_BREAK.findall(text, 0, offset)) + 1
