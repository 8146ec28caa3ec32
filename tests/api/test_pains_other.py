"""The shorter pains at the end of `../shared/stores.md`, section 5."""

import logging
from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from tests.api.test_search_api import document


def create(api: TestClient, name: str) -> dict:
    answer = api.post("/v1/skills", json={"name": name, "document": document(name, "Boil water.")})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_every_time_is_utc_and_says_so(api: TestClient) -> None:
    create(api, "boil-water")
    label = api.get("/v1/skills/boil-water/labels/production").json()
    for text in (label["moved_at"], api.get("/v1/events").json()["items"][0]["created_at"]):
        assert datetime.fromisoformat(text).utcoffset() == timedelta(0)


def test_an_unquoted_colon_is_refused_with_its_line(api: TestClient) -> None:
    broken = "---\nname: boil-water\ndescription: Use when: water is cold\n---\n\n# Boil\n"
    answer = api.post("/v1/skills", json={"name": "boil-water", "document": broken})
    assert answer.status_code == 422
    assert "line 3" in answer.text


@pytest.mark.parametrize("header", [{}, {"Authorization": ""}, {"Authorization": "Bearer "}, {"Authorization": "Basic YTpi"}])
def test_without_a_scope_nothing_is_shown(api: TestClient, header: dict[str, str]) -> None:
    create(api, "boil-water")
    del api.headers["Authorization"]
    answer = api.get("/v1/skills", headers=header)
    assert (answer.status_code, "boil-water" in answer.text) == (401, False)


def test_a_conflict_is_not_an_error_of_the_server(api: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    create(api, "boil-water")
    with caplog.at_level(logging.DEBUG):
        answer = api.post("/v1/skills", json={"name": "boil-water", "document": document("boil-water", "Other.")})
    assert answer.status_code == 409
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_descriptions_never_overflow_the_budget_and_what_was_left_out_is_named(api: TestClient) -> None:
    for number in range(5):
        create(api, f"boil-water-{number}")
    [context] = api.post("/v1/contexts", json={"tasks": ["boil water"], "k": 5, "token_budget": 70}).json()["contexts"]
    assert context["tokens"] <= 70
    assert len(context["entries"]) + len(context["omitted"]) == 5
    assert context["omitted"]
