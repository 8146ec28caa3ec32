"""What a curation stage hands on: a proposed document and the claims that carry it. Pure values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One sentence of a draft and the episodes it was drawn from."""

    anchor: str
    """Section path of the sentence, e.g. `steps`."""
    text: str
    """The sentence exactly as it stands in the document."""
    episode_ids: tuple[str, ...]
    polarity: int = 1
    """+1 supports, -1 speaks against."""
    weight: float = 1.0


@dataclass(frozen=True)
class Draft:
    """A document that may become a candidate."""

    name: str
    """Skill name, valid under the Agent Skills rules (lowercase letters, digits, hyphens)."""
    kind: str
    """`skill` or `rule`."""
    slice: str
    document: str
    """Full SKILL.md text."""
    claims: tuple[Claim, ...]
    rationale: str
