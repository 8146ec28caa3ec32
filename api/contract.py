"""The OpenAPI document, completed from what the routes are: errors, headers, `fields` and examples, of all there will be.

Nothing here is written once more for each route, so nothing here can be forgotten or grow old.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import FastAPI

from api import examples, fields, requests
from skillhub import errors
from skillhub.errors import SkillhubError

Json = dict[str, Any]
METHODS = ("get", "put", "post", "patch", "delete")
PROBLEM = "application/problem+json"
MAX_VALUE = 2000
"""Characters of a value in a path or query."""


def install(app: FastAPI) -> None:
    """Make `app.openapi()` answer with the completed document."""
    app.openapi = cache(lambda plain=app.openapi: completed(plain()))


def completed(document: Json) -> Json:
    """The document of FastAPI, changed in place."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = _problem_schema()
    components["responses"] = {error.__name__: _error_response(error) for error in by_status().values()}
    components["headers"] = {requests.HEADER: _header("Id of the request; send your own or get one.")}
    for _, method, operation in operations(document):
        _complete(method, operation, schemas)
    return document


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """`(path, method, operation)` of all of them."""
    for path, item in document["paths"].items():
        yield from ((path, method, item[method]) for method in METHODS if method in item)


@cache
def by_status() -> dict[int, type[SkillhubError]]:
    """Status -> the error that stands for it: the one right below the root of the tree."""
    return {error.status: error for error in SkillhubError.__subclasses__() if error.__module__ == errors.__name__}


def _complete(method: str, operation: Json, schemas: dict[str, Json]) -> None:
    parameters = operation.setdefault("parameters", [])
    if method == "get" and _answer(operation) is not None:
        parameters += [_fields_parameter(), _none_match_parameter()]
        operation["responses"]["304"] = {"description": "Not modified: `If-None-Match` names the answer."}
    for parameter in parameters:
        _bound(parameter)
    for status in statuses(method, operation):
        operation["responses"][str(status)] = {"$ref": f"#/components/responses/{by_status()[status].__name__}"}
    for response in operation["responses"].values():
        if "$ref" not in response:
            response.setdefault("headers", {})[requests.HEADER] = {"$ref": f"#/components/headers/{requests.HEADER}"}
    examples.add(operation, schemas)


def _bound(parameter: Json) -> None:
    """A text without a limit of its own gets the one that `conventions` keeps for all."""
    for part in parameter["schema"].get("anyOf", [parameter["schema"]]):
        bounded = parameter["in"] in ("path", "query") and part.get("type") == "string"
        if bounded and not {"maxLength", "enum", "const", "format"} & part.keys():
            part["maxLength"] = MAX_VALUE
            if parameter["in"] == "path":
                part.setdefault("minLength", 1)


def statuses(method: str, operation: Json) -> list[int]:
    """The errors an operation can end with, by what it takes: a key, a path, a body, a precondition."""
    found = [422, 503]
    places = {item["in"] for item in operation["parameters"]}
    headers = {item["name"].lower() for item in operation["parameters"] if item["in"] == "header"}
    changes = method != "get"
    if "security" in operation:
        found += [401, 403, 429]
    named = {"cursor", "label", "name"} & {item["name"] for item in operation["parameters"]}
    if "path" in places or "requestBody" in operation or named:
        found.append(404)
    if changes:
        found += [409, 413]
    if "if-match" in headers:
        found.append(412)
    return sorted(found)


def _answer(operation: Json) -> Json | None:
    """The schema of a JSON answer with status 200."""
    return operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")


def _fields_parameter() -> Json:
    said = "Only these fields of the answer, or of each item of a page: `a,b.c`"
    return _parameter("fields", "query", said, maxLength=fields.MAX_CHARACTERS, minLength=1)


def _none_match_parameter() -> Json:
    return _parameter("If-None-Match", "header", "The `ETag` of the answer you have; 304 where it is still the one.")


def _parameter(name: str, place: str, said: str, **limits: int) -> Json:
    return {"name": name, "in": place, "required": False, "description": said, "schema": {"type": "string", **limits}}


def _header(said: str) -> Json:
    return {"description": said, "required": True, "schema": {"type": "string", "minLength": 1}}


def _error_response(error: type[SkillhubError]) -> Json:
    codes = [error.code, *(each.code for each in error.__subclasses__())]
    example = {
        "type": f"urn:skillhub:{error.code}", "title": error.code.replace("_", " "), "status": error.status,
        "code": error.code, "detail": error.__doc__, "request_id": "req_01kd3g7n2m8r4t6v0x1y3z5a7b",
    }  # fmt: skip
    if error is errors.Invalid:
        example["errors"] = [{"path": "/body/name", "message": error.__doc__}]
    content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}}
    headers = {requests.HEADER: {"$ref": f"#/components/headers/{requests.HEADER}"}}
    return {"description": f"{error.__doc__} Code: {', '.join(codes)}.", "headers": headers, "content": content}


def _problem_schema() -> Json:
    text, fault = {"type": "string"}, {"path": {"type": "string"}, "message": {"type": "string"}}
    properties = dict.fromkeys(("type", "title", "code", "detail", "request_id"), text) | {"status": {"type": "integer"}}
    place = {"type": "object", "properties": fault, "required": ["path", "message"]}
    return {
        "type": "object",
        "description": "An error (RFC 9457). `code` is stable; `errors` says where each fault is.",
        "required": list(properties),
        "properties": properties | {"errors": {"type": "array", "items": place}},
    }


def operation_id(route: Any) -> str:
    """The name of the function: stable for as long as nobody renames it."""
    return route.name


