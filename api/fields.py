"""`fields=a,b.c`: the parts of an answer that the caller wants, checked against the schema of the answer."""

from collections.abc import Iterator
from typing import Any

from skillhub.errors import Invalid

Schema = dict[str, Any]
Paths = dict[str, "Paths"]
"""Field -> the fields wanted inside it; none: all of it. `a,b.c` is `{"a": {}, "b": {"c": {}}}`."""
MAX_CHARACTERS = 2000


def parse(text: str, schema: Schema, known: dict[str, Schema]) -> Paths:
    """The paths in `text`; `schema` is of the answer, `known` holds the schemas it refers to. In a page they mean its items.

    Invalid, with the fields there are, for one that the answer cannot have.
    """
    if len(text) > MAX_CHARACTERS:
        raise Invalid(f"longer than {MAX_CHARACTERS} characters", path="/query/fields")
    schema = _item(schema, known)
    paths: Paths = {}
    for path in text.split(","):
        _check(path.strip(), schema, known)
        inner = paths
        for name in path.strip().split("."):
            inner = inner.setdefault(name, {})
    return paths


def project(value: Any, paths: Paths) -> Any:
    """`value` with only the fields in `paths`; a page keeps its frame and is projected item by item."""
    if isinstance(value, dict) and value.keys() == {"items", "next_cursor"}:
        return {"items": [_only(item, paths) for item in value["items"]], "next_cursor": value["next_cursor"]}
    return _only(value, paths)


def _only(value: Any, paths: Paths) -> Any:
    if isinstance(value, list):
        return [_only(item, paths) for item in value]
    if not isinstance(value, dict) or not paths:
        return value
    return {name: _only(value[name], inner) for name, inner in paths.items() if name in value}


def _item(schema: Schema, known: dict[str, Schema]) -> Schema:
    """The schema of a page's items, where it is one of a page."""
    parts = _resolved(schema, known)
    properties = parts[0].get("properties", {}) if parts else {}
    return properties["items"] if properties.keys() == {"items", "next_cursor"} else schema


def _check(path: str, schema: Schema, known: dict[str, Schema]) -> None:
    objects = _objects(schema, known)
    for name in path.split("."):
        if not name:
            raise Invalid(f"{path!r} is not a path of fields", path="/query/fields")
        named = [each["properties"][name] for each in objects if name in each.get("properties", {})]
        if not named and not any(_is_free(each) for each in objects):
            there = sorted({field for each in objects for field in each.get("properties", {})})
            said = f"known are {', '.join(there)}" if there else "there are no fields inside"
            raise Invalid(f"{path!r} is not a field of the answer; {said}", path="/query/fields")
        objects = [part for inner in named for part in _objects(inner, known)] or [each for each in objects if _is_free(each)]


def _is_free(schema: Schema) -> bool:
    """Whether an object may have fields of any name, as a payload has."""
    return "properties" not in schema and schema.get("additionalProperties", True) is not False


def _objects(schema: Schema, known: dict[str, Schema]) -> list[Schema]:
    """The objects a value may be, or hold as a list."""
    return [part for part in _resolved(schema, known) if part.get("type") == "object"]


def _resolved(schema: Schema, known: dict[str, Schema]) -> list[Schema]:
    return list(_flat(schema, known))


def _flat(schema: Schema, known: dict[str, Schema]) -> Iterator[Schema]:
    if "$ref" in schema:
        yield from _flat(known[schema["$ref"].rsplit("/", 1)[-1]], known)
    elif "anyOf" in schema or "oneOf" in schema or "allOf" in schema:
        for word in ("anyOf", "oneOf", "allOf"):
            for part in schema.get(word, ()):
                yield from _flat(part, known)
    elif schema.get("type") == "array":
        yield from _flat(schema.get("items", {}), known)
    else:
        yield schema
