"""Examples for the OpenAPI document, made from its schemas: one small story, told in the words below, in every operation.

A name has the same value wherever it occurs, and a schema that grows gets its example by itself. A schema's own `example` or
`examples` come first. A test holds each example against its schema.
"""

from typing import Any

Json = dict[str, Any]

ULID = "01kd3g7n2m8r4t6v0x1y3z5a7b"
SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TIME = "2026-12-01T09:30:00Z"
DOCUMENT = (
    "---\nname: boil-water\ndescription: Boil water on a stove. Use it for tea.\n---\n"
    "# Steps\n\nFill the pot before you heat it.\n"
)
WORDS: Json = {
    "name": "boil-water", "skill": "boil-water", "skill_name": "boil-water", "skills": ["boil-water"], "kind": "skill",
    "document": DOCUMENT, "description": "Boil water on a stove. Use it for tea.", "label": "production",
    "message": "Fill first, then heat", "reason": "Replaced by boil-kettle", "state": "published", "number": 1, "base": 1,
    "content_sha256": SHA256, "content_base64": "ZWNobyBoaQo=", "path": "scripts/hi.sh", "mode": 420, "relation": "edit",
    "operations": [{"op": "replace", "anchor": "steps", "text": "Fill the pot, then heat it.\n"}],
    "labels": {"latest": 1, "production": 1}, "suite": "kitchen", "suites": ["kitchen"], "slice": "boil", "slices": ["boil"],
    "target_slice": "boil", "protected_slices": ["boil"], "split": "dev", "spec": {"task": "boil", "variation": 7},
    "key": "boil-7", "case_key": "boil-7", "environment": "kitchen", "task": "Make a cup of tea.",
    "tasks": ["Make a cup of tea."],
    "query": "make tea", "observation": "You see a pot.", "action": "fill the pot", "policy": "small-model-3", "seed": 7,
    "score": 0.9, "success": True, "reward": 0.1, "rank": 1, "anchor": "steps", "claim": "Fill the pot before you heat it.",
    "text": "Fill the pot before you heat it.", "line": 7, "polarity": 1, "weight": 1.0, "proposer": "extract",
    "rationale": "Runs that filled first succeeded.", "runner": "gpu-1", "arm": "candidate", "pair": 0, "attempt": 1,
    "verdict": "accepted", "alpha": 0.05, "seq": 42, "branch": "calmer",
    "from": 1, "to": 2, "head": None, "progress": 1.0, "actor": f"key_{ULID}", "cursor": "WyJib2lsIl0",
    "next_cursor": None, "error": None, "lease_token": "u1Yk0c2m", "tokens": 120, "token_budget": 2000, "k": 3, "limit": 50,
    "fields": "id,name", "sort": "-created_at", "url": "https://skillhub.example/ui/enter?link=abc", "log": "attempt 1: done\n",
    "If-None-Match": '"0a1b2c"', "if-match": '"1"', "Idempotency-Key": "4f6c1c2e-retry-safe", "Last-Event-ID": "41",
}  # fmt: skip
"""Name of a field or parameter -> its value, wherever the schema there allows it."""
PREFIXES = {
    "skill": "skl", "version": "ver", "candidate": "can", "gate": "gat", "trial": "trl", "episode": "eps", "context": "ctx",
    "job": "job", "decision": "dec", "suite": "sui", "case": "cas", "evidence": "evi", "branch": "brn", "subject": "ver",
    "parent": "ver",
}  # fmt: skip


def add(operation: Json, schemas: dict[str, Json]) -> None:
    """Examples of the parameters, the body and the good answers of an operation, where it has none of its own."""
    for parameter in operation.get("parameters", []):
        if not {"example", "examples"} & parameter.keys():
            parameter["example"] = made(parameter["schema"], schemas, name=parameter["name"])
    parts = [operation.get("requestBody", {}), *(operation["responses"][code] for code in operation["responses"])]
    for part in parts:
        for media, content in part.get("content", {}).items():
            if "json" in media and "schema" in content and not {"example", "examples"} & content.keys():
                content["example"] = made(content["schema"], schemas)


def made(schema: Json, schemas: dict[str, Json], *, name: str = "") -> Any:
    """A value that the schema allows, by the name of the field it stands in."""
    if "$ref" in schema:
        return made(schemas[schema["$ref"].rsplit("/", 1)[-1]], schemas, name=name)
    if "example" in schema or schema.get("examples"):
        return schema.get("example", (schema.get("examples") or [None])[0])
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return _choice(schema[word], schemas, name=name)
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        return next((value for value in (schema.get("default"), WORDS.get(name)) if value in allowed), allowed[0])
    return _typed(schema, schemas, name=name)


def _choice(parts: list[Json], schemas: dict[str, Json], *, name: str) -> Any:
    """Null only where the story has it so; else the first of the others."""
    if name in WORDS and WORDS[name] is None and {"type": "null"} in parts:
        return None
    return made(next(part for part in parts if part.get("type") != "null"), schemas, name=name)


def _typed(schema: Json, schemas: dict[str, Json], *, name: str) -> Any:
    match schema.get("type"):
        case "object":
            return _object(schema, schemas, name=name)
        case "array":
            word, inner = WORDS.get(name), schema.get("items", {})
            return word if isinstance(word, list) and "$ref" not in inner else [made(inner, schemas, name=_singular(name))]
        case "string":
            return _text(schema, name)
        case "integer" | "number" as kind:
            return _number(schema, name, whole=kind == "integer")
        case "boolean":
            return WORDS[name] if isinstance(WORDS.get(name), bool) else False
    return None


def _object(schema: Json, schemas: dict[str, Json], *, name: str) -> Json:
    if "properties" not in schema:
        word = WORDS.get(name)
        inner = schema.get("additionalProperties")
        if isinstance(word, dict):
            return word
        return {"boil-water": made(inner, schemas)} if isinstance(inner, dict) and inner else {}
    owner = schema.get("title", "").removesuffix("Out").lower()
    return {field: _field(field, part, schemas, owner) for field, part in schema["properties"].items()}


def _field(field: str, part: Json, schemas: dict[str, Json], owner: str) -> Any:
    return f"{PREFIXES[owner]}_{ULID}" if field == "id" and owner in PREFIXES else made(part, schemas, name=field)


def _text(schema: Json, name: str) -> str:
    word = WORDS.get(name)
    if schema.get("format") == "date-time":
        return TIME
    if not isinstance(word, str):
        word = _by_shape(name)
    return word[: schema["maxLength"]] if "maxLength" in schema else word


def _by_shape(name: str) -> str:
    """By how the name ends: ids, hashes, times; else the name says what belongs there."""
    stem, _, last = name.rpartition("_")
    if last == "id" or name == "id":
        return f"{PREFIXES.get(stem.rsplit('_', 1)[-1], 'obj')}_{ULID}"
    return {"sha256": SHA256, "at": TIME}.get(last) or name.replace("_", " ") or "text"


def _number(schema: Json, name: str, *, whole: bool) -> float:
    word = WORDS.get(name)
    value = word if isinstance(word, int | float) and not isinstance(word, bool) else schema.get("default", 1)
    value = max(value, schema.get("minimum", value))
    value = min(value, schema.get("maximum", value))
    return int(value) if whole else float(value)


def _singular(name: str) -> str:
    return {"episode_ids": "episode_id", "ids": "id", "entries": "entry"}.get(name, name.removesuffix("s"))
