"""The YAML block of a SKILL.md -> strings, lists and mappings of strings, under the strict subset of the format.

Read by the parser that the format's reference validator reads with, so that both say the same of every input. No scalar
becomes a number, a date or a boolean.
"""

import re
from dataclasses import dataclass
from typing import Any

from strictyaml import exceptions
from strictyaml.parser import StrictYAMLLoader
from strictyaml.ruamel.error import MarkedYAMLError
from strictyaml.ruamel.nodes import MappingNode, Node, ScalarNode, SequenceNode
from strictyaml.ruamel.reader import ReaderError

from skillhub.errors import Invalid

MAX_DEPTH = 8
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""How JSON, and so some YAML, writes a character beyond U+FFFF as escapes."""
_FOLD = "\a"
"""How the parser marks where a folded text was folded."""
_SYMBOLS = ("tag:yaml.org,2002:value", "tag:yaml.org,2002:merge")
_REASONS = {
    exceptions.FlowMappingDisallowed: "write lists and mappings in block style, one entry a line; put a text in quotes",
    exceptions.AnchorTokenDisallowed: "anchors and aliases are not allowed",
    exceptions.TagTokenDisallowed: "tags are not allowed",
    exceptions.InconsistentIndentationDisallowed: "mappings side by side must be indented by the same number of spaces",
}

Value = str | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True)
class Frontmatter:
    """Top-level fields, in the order written."""

    fields: dict[str, Value]
    lines: dict[str, int]
    """Line of the file each top-level key stands on, and each entry of `metadata`, as `metadata.<key>`."""
    commented: tuple[str, ...] = ()
    """Top-level keys whose plain value is followed by ` # ...` on its line, which YAML drops."""
    symbols: tuple[str, ...] = ()
    """Top-level keys whose value is a bare `=` or `<<`, which mean something to YAML and are no texts."""


def fault(path: str, line: int, message: str) -> dict[str, Any]:
    """One entry of `Invalid.errors`."""
    return {"path": f"/document/{path}".rstrip("/"), "line": line, "message": message}


def refuse(line: int, message: str) -> Invalid:
    return Invalid(f"line {line}: {message}", errors=[fault("frontmatter", line, message)])


def read(text: str) -> Frontmatter:
    """Parse what stands between the two `---`; line 1 of `text` is the rest of line 1 of the file.

    Errors: Invalid, with the line in the file.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    root = _loaded(text)
    if not isinstance(root, MappingNode):
        raise refuse(1, "the frontmatter must be a YAML mapping")
    fields = _plain(root, text, depth=0)
    lines = {key.value: _line(text, key) for key, _ in root.value} | _entry_lines(text, root)
    commented = tuple(key.value for key, value in root.value if _drops_comment(text, value))
    symbols = tuple(key.value for key, value in root.value if value.tag in _SYMBOLS)
    return Frontmatter(fields, lines, commented, symbols)


class _Loader(StrictYAMLLoader):
    label = "SKILL.md"
    allow_flow_style = False


def _loaded(text: str) -> Node | None:
    """The tree of the YAML. It is constructed too, which finds what only then shows: keys that stand twice, uneven indents."""
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is not None:
            loader.construct_document(root)
        return root
    except Exception as error:
        raise _refused(error, text) from error


def _refused(error: Exception, text: str) -> Invalid:
    """What the parser stumbled over, in words; it knows more ways to stumble than it names, all of them the input's fault."""
    if isinstance(error, exceptions.DuplicateKeysDisallowed):
        start, end = error.context_mark.index, error.problem_mark.index
        return refuse(_line_at(text, start), f"the key {text[start:end]!r} stands there twice")
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        reason = _REASONS.get(type(error)) or f"not valid YAML: {error.problem or error.context}{_hint(error)}"
        return refuse(_line_at(text, mark.index) if mark else 1, reason)
    if isinstance(error, ReaderError):
        return refuse(_line_at(text, error.position), f"character U+{error.character:04X} may not stand in the frontmatter")
    if isinstance(error, RecursionError):
        return refuse(1, f"nested deeper than {MAX_DEPTH} levels")
    return refuse(1, "not YAML that can be read")


def _hint(error: MarkedYAMLError) -> str:
    return ": put the value in double quotes" if "mapping values are not allowed" in (error.problem or "") else ""


def _line_at(text: str, index: int) -> int:
    return text.count("\n", 0, index) + 1


def _line(text: str, node: Node) -> int:
    return _line_at(text, node.start_mark.index)


def _entry_lines(text: str, root: MappingNode) -> dict[str, int]:
    found = [value for key, value in root.value if key.value == "metadata" and isinstance(value, MappingNode)]
    return {f"metadata.{key.value}": _line(text, key) for value in found for key, _ in value.value}


def _drops_comment(text: str, value: Node) -> bool:
    if not isinstance(value, ScalarNode) or value.style or not value.value:
        return False
    return text[value.end_mark.index :].partition("\n")[0].lstrip(" \t").startswith("#")


def _plain(node: Node, text: str, *, depth: int) -> Value:
    """Strings, lists and dicts. Errors: Invalid for what is too deep, a key that is no text, a text nobody can store."""
    if depth > MAX_DEPTH:
        raise refuse(_line(text, node), f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(node, MappingNode):
        return {_key(key, text): _plain(value, text, depth=depth + 1) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_plain(item, text, depth=depth + 1) for item in node.value]
    value = node.value.replace(_FOLD, "") if node.style == ">" else node.value
    value = _PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), value)
    if _UNSTORABLE.search(value):
        raise refuse(_line(text, node), "an escape stands for a NUL character or half a surrogate pair")
    return value


def _key(node: Node, text: str) -> str:
    if not isinstance(node, ScalarNode):
        raise refuse(_line(text, node), "keys must be plain text")
    return str(_plain(node, text, depth=0))
