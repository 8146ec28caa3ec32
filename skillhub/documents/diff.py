"""Two mappings of named parts -> what was added, removed, changed and moved; two texts -> a unified diff.

Parts are sections by anchor, metadata by key or files by path, in order. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff


@dataclass(frozen=True)
class PartsDiff:
    """Names of the parts that differ, each in the order it stands in."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    moved: bool
    """Whether parts that both sides have stand in another order."""


def diff_parts(before: Mapping[str, object], after: Mapping[str, object]) -> PartsDiff:
    """What makes `after` of `before`; values are compared whole."""
    kept = [key for key in before if key in after]
    return PartsDiff(
        added=[key for key in after if key not in before],
        removed=[key for key in before if key not in after],
        changed=[key for key in kept if before[key] != after[key]],
        moved=kept != [key for key in after if key in before],
    )


def diff_text(before: str, after: str) -> str:
    """The unified diff of two texts, empty where they are the same."""
    return "".join(unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), "from", "to"))
