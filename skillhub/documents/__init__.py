"""SKILL.md texts and skill folders: in come bytes, out come parsed, addressable, editable documents. Pure values."""

from skillhub.documents.skillmd import Document, canonical_name, parse

__all__ = ["Document", "canonical_name", "parse"]
