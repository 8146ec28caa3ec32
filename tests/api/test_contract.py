"""The OpenAPI document holds for every operation, those that are written later included."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from api import contract, problems
from api.app import create_app
from skillhub.config import Settings
from skillhub.errors import SkillhubError

Json = dict[str, Any]
APP = create_app(Settings(database_url="postgresql://nobody@localhost:1/none", secret="s"), announce=print)
DOCUMENT = APP.openapi()
OPERATIONS = list(contract.operations(DOCUMENT))
each_operation = pytest.mark.parametrize(
    ("path", "method", "operation"), OPERATIONS, ids=[f"{method} {path}" for path, method, _ in OPERATIONS]
)


def faults(schema: Json, value: Any) -> list[str]:
    """What is wrong with a value; `$ref`s point into the document."""
    whole = schema | {"components": DOCUMENT["components"]}
    return [error.message for error in Draft202012Validator(whole).iter_errors(value)]


def contents(operation: Json) -> list[Json]:
    """The JSON bodies an operation takes and gives."""
    parts = [operation.get("requestBody", {}), *(deref(answer) for answer in operation["responses"].values())]
    return [content for part in parts for media, content in part.get("content", {}).items() if "json" in media]


def deref(part: Json) -> Json:
    return DOCUMENT["components"]["responses"][part["$ref"].rsplit("/", 1)[-1]] if "$ref" in part else part


def query_names(operation: Json) -> set[str]:
    return {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"}


@each_operation
def test_every_body_and_parameter_has_an_example_that_its_schema_allows(path: str, method: str, operation: Json) -> None:
    for part in [*operation["parameters"], *contents(operation)]:
        assert "example" in part or "examples" in part, part
        assert not faults(part["schema"], part["example"]), part["example"]


@each_operation
def test_every_error_that_can_come_is_documented_as_a_problem(path: str, method: str, operation: Json) -> None:
    codes = set(operation["responses"])
    assert {"422", "503"} <= codes
    assert "security" not in operation or {"401", "403", "429"} <= codes
    for code in (code for code in codes if code >= "400"):
        assert contract.PROBLEM in deref(operation["responses"][code])["content"], code


@each_operation
def test_a_list_is_paged_in_the_one_way(path: str, method: str, operation: Json) -> None:
    schema = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
    named = DOCUMENT["components"]["schemas"].get(schema.get("$ref", "").rsplit("/", 1)[-1], {})
    assert schema.get("type") != "array", "a list is a page"
    if method == "get" and named.get("properties", {}).keys() == {"items", "next_cursor"}:
        assert {"cursor", "limit", "fields"} <= query_names(operation)


@each_operation
def test_every_text_and_list_that_is_sent_has_a_limit(path: str, method: str, operation: Json) -> None:
    for parameter in operation["parameters"]:
        for part in parameter["schema"].get("anyOf", [parameter["schema"]]):
            bounded = {"maxLength", "enum", "const", "format", "pattern"} & part.keys()
            assert part.get("type") != "string" or parameter["in"] == "header" or bounded, parameter["name"]


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)


def test_a_missing_description_is_noticed() -> None:
    assert not [path for path, method, operation in OPERATIONS if not operation.get("description")]


HTTP = ("skillhub.errors", "skillhub.services", "skillhub.store", "skillhub.documents")
"""Where errors live that a request can end with; others are of the command line."""


def words_of_the_page() -> set[str]:
    """What stands in backticks at the beginning of a table's row in docs/api.md."""
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    return set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))


def tree(error: type[SkillhubError]) -> Iterator[type[SkillhubError]]:
    yield error
    for below in error.__subclasses__():
        yield from tree(below)


def test_the_page_for_people_names_every_code() -> None:
    reached = (error for error in tree(SkillhubError) if error.__module__.startswith(HTTP))
    codes = {error.code for error in reached} | set(problems.HTTP_CODES.values()) | {"http_error"}
    assert {word for word in words_of_the_page() if not word.startswith("/")} == codes


def test_the_page_for_people_names_every_list_with_what_it_offers() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `/")}
    lists = {path: op for path, method, op in OPERATIONS if method == "get" and "sort" in query_names(op)}
    assert rows.keys() == lists.keys()
    for path, operation in lists.items():
        assert all(f"`{name}`" in rows[path] for name in query_names(operation) - {"sort", "cursor", "limit", "fields"}), path
