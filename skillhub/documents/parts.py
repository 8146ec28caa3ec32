"""Document -> its parts by name, as they are written: frontmatter by field, body by section. Joined they give the text."""

from skillhub.documents.sections import lines, sections
from skillhub.documents.skillmd import Document

OPENING, CLOSING = "", "---"
"""Names of what stands above the first field, and of the line that closes the frontmatter."""


def field_texts(document: Document) -> dict[str, str]:
    """The lines of each field, and of each entry of `metadata` under `metadata.<key>`, with the comments below them."""
    rows = lines(document.text[: len(document.text) - len(document.body)])
    by_line = sorted(document.field_lines.items(), key=lambda item: item[1])
    starts = [(OPENING, 1), *by_line, (CLOSING, document.closing_line)]
    ends = [line for _, line in starts[1:]] + [len(rows) + 1]
    return {name: "".join(rows[start - 1 : end - 1]) for (name, start), end in zip(starts, ends, strict=True)}


def section_texts(document: Document) -> dict[str, str]:
    """Each section by anchor, heading included and subsections not."""
    rows = lines(document.body)
    start = document.body_line
    return {part.anchor: "".join(rows[part.first_line - start : part.content_end - start]) for part in sections(document)}


def field_values(document: Document) -> dict[str, object]:
    """The same fields as `field_texts`, as what they mean."""
    fields = dict(document.fields)
    metadata = fields.get("metadata")
    if isinstance(metadata, dict):
        fields |= {f"metadata.{key}": value for key, value in fields.pop("metadata").items()}
    return fields
