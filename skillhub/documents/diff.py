"""Two versions -> what differs in metadata, sections and files, and the text as a unified diff. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff

from skillhub.documents.archive import Content
from skillhub.documents.parts import field_values, section_texts
from skillhub.documents.sections import lines
from skillhub.documents.skillmd import parse

MAX_LINES = 20_000
"""Of a text diff; beyond, comparing lines that repeat takes time in the square of their number."""


@dataclass(frozen=True)
class PartsDiff:
    """Names of the parts that differ, each in the order it stands in."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    moved: bool
    """Whether parts that both sides have stand in another order."""


@dataclass(frozen=True)
class Diff:
    """What makes one version of another."""

    metadata: PartsDiff
    """Fields of the frontmatter by what they mean, entries of `metadata` as `metadata.<key>`."""
    sections: PartsDiff
    """By anchor, blank lines at their ends apart."""
    files: PartsDiff
    """By path, modes included."""
    text: str | None
    """A unified diff of the documents, empty where they are the same; None where one has more than `MAX_LINES` lines."""


def diff(before: Content, after: Content) -> Diff:
    """What makes `after` of `before`."""
    documents = [parse(side.document) for side in (before, after)]
    texts = [{anchor: text.rstrip() for anchor, text in section_texts(document).items()} for document in documents]
    return Diff(
        metadata=diff_parts(*map(field_values, documents)),
        sections=diff_parts(*texts),
        files=diff_parts(*({file.path: file for file in side.files} for side in (before, after))),
        text=diff_text(before.document, after.document),
    )


def diff_parts(before: Mapping[str, object], after: Mapping[str, object]) -> PartsDiff:
    """What makes `after` of `before`; values are compared whole."""
    kept = [key for key in before if key in after]
    return PartsDiff(
        added=[key for key in after if key not in before],
        removed=[key for key in before if key not in after],
        changed=[key for key in kept if before[key] != after[key]],
        moved=kept != [key for key in after if key in before],
    )


def diff_text(before: str, after: str) -> str | None:
    """The unified diff of two texts."""
    sides = lines(before), lines(after)
    if max(map(len, sides)) > MAX_LINES:
        return None
    return "".join(map(_closed, unified_diff(*sides, "from", "to")))


def _closed(line: str) -> str:
    """A last line without its break does not run into the next of the diff."""
    return line if line.endswith(("\r", "\n")) else f"{line}\n\\ No newline at end of file\n"
