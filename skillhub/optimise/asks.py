"""What a search asks of the world, and what it is answered. A search is a generator: it yields asks and is sent answers.

Given the same answers it asks the same again, so the journal of its answers is its whole state: a run that was killed is
played again from the journal, and pays for nothing twice.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillhub.documents import edits
from skillhub.documents.archive import Content
from skillhub.documents.merge import merge

OPERATORS = ("add", "refine", "reorder", "prune", "decompose")


@dataclass(frozen=True)
class Proposal:
    """A repair: edit operations, or a whole document made from `base`."""

    operator: str
    """What it does, one of `OPERATORS`."""
    rationale: str
    targets: tuple[str, ...]
    """Slices that it should help."""
    operations: tuple[Mapping[str, Any], ...] = ()
    document: str | None = None
    base: str | None = None
    """The document that `document` was made from."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "Proposal":
        """From a JSON object with these fields."""
        return cls(**{**value, "targets": tuple(value["targets"]), "operations": tuple(value["operations"])})

    def onto(self, document: str) -> str:
        """The document with the repair. Errors: Invalid where an operation does not fit, MergeConflict."""
        if self.document is None:
            return edits.apply(document, self.operations)
        return merge(*(Content(text, []) for text in (self.base, document, self.document))).document


@dataclass(frozen=True)
class Probe:
    """Run a document on cases for screening. Answer: a score in [0, 1] of each, None for one that could not be run."""

    document: str
    cases: tuple[str, ...]
    """Keys of cases of the screening split; a key that stands there twice is run twice."""


@dataclass(frozen=True)
class Propose:
    """Repairs of a document. Answer: proposals, none where the proposer knows no more."""

    document: str
    failures: Mapping[str, int]
    """Slice -> how strongly it fails: failures in its screening trials."""
    count: int


@dataclass(frozen=True)
class Commit:
    """Put a document through the gate. Answer: a `Ruling`."""

    document: str
    proposals: tuple[Proposal, ...]
    """What it is made of."""
    target: tuple[str, ...]
    """Slices that count as one in the proof of improvement."""
    protected: tuple[tuple[str, ...], ...]
    """Slices of which it is proven that nothing is lost: of each group as one."""
    trials: int
    """Trials it may take at most."""


@dataclass(frozen=True)
class Ruling:
    """What the gate said."""

    verdict: str
    reason: str
    trials: int
    """Trials it took."""


Ask = Probe | Propose | Commit
Answer = Sequence[float | None] | Sequence[Proposal] | Ruling
Search = Generator[Ask, Answer, str]
"""Returns the document it ended with."""
