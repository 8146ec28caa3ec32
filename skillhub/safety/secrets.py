"""Credentials in free text: where they stand, and the text without them.

A short list of shapes that are credentials and nothing else: vendors' own prefixes, and values that a name such as `api_key`
introduces. Prose about passwords passes. No pattern repeats a repetition, so the time is linear in the text.
"""

import re
from dataclasses import dataclass

_RULES: list[tuple[str, tuple[str, ...], str]] = [
    # kind, what must occur in the lowered text for the pattern to be tried at all, pattern
    (
        "private key",
        ("private key",),
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,]|-(?!----))*"
        r"(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
    ("url password", ("://",), r"://(?P<value>[^\s/:@]{0,200}:[^\s/@]{1,200})@"),
    ("token", ("eyj",), r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    ("api key", ("sk-", "sk_", "rk_", "pk_"), r"\b(?:sk-[\w-]{16,}|[srp]k_(?:live|test)_\w{16,})"),
    ("api key", ("shk_",), r"\bshk_[\w-]{20,}"),
    ("api key", ("gh", "glpat-"), r"\b(?:gh[pousr]_\w{36,}|github_pat_\w{22,}|glpat-[\w-]{20,})"),
    ("api key", ("xox",), r"\bxox[abeoprs]-[\w-]{10,}"),
    ("api key", ("akia", "asia"), r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b"),
    ("api key", ("aiza",), r"\bAIza[\w-]{35}"),
    ("api key", ("hf_", "gsk_", "npm_", "pypi-"), r"\b(?:hf_|gsk_|npm_|pypi-AgE)[\w-]{30,}"),
    ("credential", ("bearer", "basic"), r"(?i:\b(?:bearer|basic)[ \t]{1,4})(?P<value>[\w.~+/=-]{16,})"),
    (
        "secret",
        ("key", "secret", "token", "passw", "pwd"),
        r"(?i:(?:api|access|account|auth|secret)[_ -]?key|secret|token|password|passwd|pwd)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
        r"(?P<value>[^\s\"'`,;<>\[\](){}]{8,})",
    ),
]
_COMPILED = [(kind, markers, re.compile(pattern)) for kind, markers, pattern in _RULES]


@dataclass(frozen=True)
class Secret:
    """A credential at `text[start:end]`."""

    start: int
    end: int
    kind: str


def find(text: str) -> list[Secret]:
    """The credentials of a text, in order, without overlap."""
    found: list[Secret] = []
    for secret in sorted(_matches(text), key=lambda secret: secret.start):
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return found


def redact(text: str) -> str:
    """The text with each credential replaced by `[redacted: kind]`; doing it again changes nothing."""
    parts, position = [], 0
    for secret in find(text):
        parts += [text[position : secret.start], f"[redacted: {secret.kind}]"]
        position = secret.end
    return "".join([*parts, text[position:]]) if parts else text


def _matches(text: str) -> list[Secret]:
    matches, lowered = [], text.lower()
    for kind, markers, pattern in _COMPILED:
        if any(marker in lowered for marker in markers):
            groups = ((match, "value" if "value" in pattern.groupindex else 0) for match in pattern.finditer(text))
            matches += [Secret(*match.span(group), kind) for match, group in groups if _is_secret(kind, match[group])]
    return matches


def _is_secret(kind: str, value: str) -> bool:
    """A value that only a name marks must mix letters and digits: `hunter22` is a password, `12345678` is a count."""
    if kind != "secret":
        return True
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)
