"""Every list: all of it page by page, in each of its orders, narrowed by what is asked; and no cursor of another list."""

import base64
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from skillhub.config import Settings
from skillhub.services import jobs, searching, webhooks
from skillhub.services.scope import Scope
from tests.api.test_contract import DOCUMENT, OPERATIONS, query_names
from tests.db.gating import document

EPISODE = {"key": "e", "environment": "kitchen", "task": "boil", "slice": "boil", "score": 1.0, "success": True}
CANDIDATE = {"document": "", "target_slice": "boil", "proposer": "me"}
HOLDING_ONE = ("/v1/decisions", "/v1/gates", "/v1/optimisations/{optimisation_id}/steps")
LISTS = [path for path, method, operation in OPERATIONS if method == "get" and "sort" in query_names(operation)]


@pytest.fixture
def stocked(api: TestClient) -> TestClient:
    """Three of everything, and a gate over the first candidate."""
    for path in ("one", "two"):
        assert api.post("/v1/webhooks", json={"url": f"https://93.184.215.14/{path}"}).status_code == 201
    for index, name in enumerate(("boil", "cook", "fry")):
        api.post("/v1/skills", json={"name": name, "document": document("One.", name=name)})
        episode = EPISODE | {"key": f"e{index}", "score": index / 2, "success": index > 0}
        api.post("/v1/episodes/batch", json={"episodes": [episode]})
        api.post("/v1/candidates", json=CANDIDATE | {"skill_name": name, "document": document(f"Two {index}.", name=name)})
        cases = [{"key": f"c{i:02}", "split": "dev", "slice": "boil", "spec": {"i": [index, i]}} for i in range(16)]
        api.put(f"/v1/suites/suite-{index}", json={"cases": cases})
        api.post("/v1/contexts", json={"tasks": [f"boil {index}"]})
        api.post("/v1/curation/extract", json={"slices": [f"s{index}"]})
    for index in (2, 3):
        api.post("/v1/skills/boil/versions", json={"document": document(f"Number {index}.", name="boil"), "label": f"l{index}"})
    for name in ("calmer", "hotter"):
        assert api.post("/v1/skills/boil/branches", json={"name": name}).status_code == 201
    train = [{"key": "t", "split": "train", "slice": "boil", "spec": {"i": "t"}}]
    search = {"skill": "boil", "suite": "searched", "budget": 400, "proposer": "me"}
    api.put("/v1/suites/searched", json={"cases": train})
    for _ in range(2):
        assert api.post("/v1/optimisations", json=search).status_code == 201
    work_off_searches(api)
    gate = api.post(f"/v1/candidates/{all_of(api, '/v1/candidates')[0]['id']}/gate", json={"suite": "suite-0"})
    assert gate.status_code == 201, gate.text
    webhooks.fill(api.app.state.database)
    return api


def work_off_searches(api: TestClient) -> None:
    """Each search up to its first trials."""
    database = api.app.state.database
    for job in all_of(api, "/v1/jobs", kind="optimisation.advance"):
        searching.advance(jobs.claim(database, job["id"], settings=Settings(database_url="")))


def all_of(api: TestClient, path: str, *, limit: int = 200, **params: Any) -> list[dict]:
    """All items of a list, page by page."""
    items: list[dict] = []
    cursor = {}
    while True:
        answer = api.get(path, params=params | {"limit": limit} | cursor)
        assert answer.status_code == 200, answer.text
        items += answer.json()["items"]
        assert len(answer.json()["items"]) <= limit
        if answer.json()["next_cursor"] is None:
            return items
        cursor = {"cursor": answer.json()["next_cursor"]}


def here(api: TestClient, path: str) -> str:
    """The path of a list that is there."""
    ids = {f"{kind}_id": all_of(api, f"/v1/{kind}s")[0]["id"] for kind in ("gate", "webhook", "optimisation")}
    return path.replace("/v1/suites/{name}", "/v1/suites/suite-0").format(name="boil", label="latest", **ids)


def sorts(path: str) -> list[str]:
    parameters = {parameter["name"]: parameter for parameter in DOCUMENT["paths"][path]["get"]["parameters"]}
    return parameters["sort"]["schema"]["enum"]


def test_a_list_read_page_by_page_is_the_list_read_at_once(stocked: TestClient) -> None:
    assert len(LISTS) >= 12
    for path in LISTS:
        url = here(stocked, path)
        for sort in sorts(path):
            whole = all_of(stocked, url, sort=sort)
            assert all_of(stocked, url, sort=sort, limit=1) == whole
            assert all_of(stocked, url, sort=sort, limit=2) == whole
            if not sort.startswith("-"):
                assert all_of(stocked, url, sort=f"-{sort}") == whole[::-1]
            assert len(whole) >= 2 or path in HOLDING_ONE, path


def test_a_row_that_comes_meanwhile_neither_repeats_nor_hides_another(stocked: TestClient) -> None:
    first = stocked.get("/v1/skills", params={"limit": 2}).json()
    stocked.post("/v1/skills", json={"name": "aaa", "document": document("One.", name="aaa")})
    rest = stocked.get("/v1/skills", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [skill["name"] for skill in first["items"] + rest["items"]] == ["boil", "cook", "fry"]


def test_a_cursor_of_another_list_or_order_is_refused(stocked: TestClient) -> None:
    cursor = stocked.get("/v1/skills", params={"limit": 1}).json()["next_cursor"]
    for path in LISTS:
        for sort in sorts(path):
            if (path, sort) != ("/v1/skills", "name"):
                answer = stocked.get(here(stocked, path), params={"cursor": cursor, "sort": sort})
                assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "/query/cursor"), (path, sort)


def cursor_of(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


NONSENSE = ["x", "", "!", "W10", "é", cursor_of("/v1/skills", "name"), cursor_of("/v1/skills", "name", 3),
     cursor_of("/v1/skills", "name", "a", "b"), cursor_of("/v1/skills", "name", None), cursor_of("/v1/skills", "name", "\0"),
     cursor_of("/v1/skills", "name", "\ud800"), cursor_of("/v1/skills", "name", {}),
     cursor_of("/v1/skills", "name", True)]  # fmt: skip


def test_nonsense_is_no_cursor(stocked: TestClient) -> None:
    for cursor in NONSENSE:
        answer = stocked.get("/v1/skills", params={"cursor": cursor})
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "/query/cursor"), cursor


@pytest.mark.parametrize("part", [2**70, 1e308, float("inf"), "2", True])
def test_no_number_in_a_cursor_breaks_the_server(stocked: TestClient, part: object) -> None:
    answer = stocked.get("/v1/events", params={"cursor": cursor_of("/v1/events", "seq", part)})
    assert answer.status_code == 422


NARROWED = [
    ("/v1/skills", {"kind": "rule"}, 0),
    ("/v1/skills", {"label": "l2"}, 1),
    ("/v1/skills", {"prefix": "co"}, 1),
    ("/v1/skills", {"prefix": "%"}, 0),
    ("/v1/skills", {"created_before": "2020-01-01T00:00:00Z"}, 0),
    ("/v1/skills", {"created_after": "2020-01-01T00:00:00+02:00"}, 3),
    ("/v1/candidates", {"skill": "fry"}, 1),
    ("/v1/candidates", {"proposer": "you"}, 0),
    ("/v1/candidates", {"state": "gated"}, 1),
    ("/v1/episodes", {"min_score": 0.5}, 2),
    ("/v1/episodes", {"success": "false"}, 1),
    ("/v1/episodes", {"environment": "kitchen", "slice": "boil"}, 3),
    ("/v1/jobs", {"state": "dead"}, 0),
    ("/v1/suites", {"prefix": "suite-1"}, 1),
    ("/v1/suites/suite-0/cases", {"split": "dev", "slice": "boil"}, 16),
    ("/v1/suites/suite-0/cases", {"split": "test"}, 0),
    ("/v1/gates", {"suite": "suite-0", "state": "open"}, 1),
    ("/v1/gates", {"suite": "suite-1"}, 0),
    ("/v1/decisions", {"verdict": "accepted"}, 0),
    ("/v1/contexts", {"label": "production"}, 3),
    ("/v1/events", {"kind": "suite.stored"}, 4),
    ("/v1/skills/boil/versions", {"created_by": "nobody"}, 0),
    ("/v1/skills/boil/branches", {"state": "closed"}, 0),
    ("/v1/candidates", {"branch_id": "none"}, 0),
]


def test_a_list_is_narrowed_by_what_is_asked(stocked: TestClient) -> None:
    for path, params, count in NARROWED:
        assert len(all_of(stocked, path, **params)) == count, (path, params)


def test_episodes_are_sorted_by_score(stocked: TestClient) -> None:
    assert [episode["score"] for episode in all_of(stocked, "/v1/episodes", sort="-score", limit=1)] == [1.0, 0.5, 0.0]


def test_a_suite_and_its_cases_can_be_read(stocked: TestClient) -> None:
    suite = stocked.get("/v1/suites/suite-0").json()
    assert (suite["name"], suite["cases"]) == ("suite-0", 16)
    assert all_of(stocked, "/v1/suites/suite-0/cases")[0]["spec"] == {"i": [0, 0]}
    assert stocked.get("/v1/suites/none").status_code == stocked.get("/v1/suites/none/cases").status_code == 404


def test_a_context_is_read_as_it_was_shown(stocked: TestClient) -> None:
    context = all_of(stocked, "/v1/contexts")[0]
    assert context["task"] == "boil 2"
    assert stocked.get(f"/v1/contexts/{context['id']}").json() == context
    assert {entry["skill"] for entry in context["entries"]} <= {"boil", "cook", "fry"}
    assert stocked.get("/v1/contexts/ctx_none").status_code == 404


def test_many_are_read_and_retired_in_one_call(stocked: TestClient) -> None:
    found = stocked.post("/v1/labels/query", json={"skills": ["fry", "none", "boil"], "label": "latest"}).json()["labels"]
    assert [(label["skill"], label["number"]) for label in found] == [("fry", 1), ("boil", 3)]
    ids = [label["version_id"] for label in found]
    read = stocked.post("/v1/versions/query", json={"ids": [*ids, "ver_none", ids[0]]}).json()["versions"]
    assert [version["skill"] for version in read] == ["fry", "boil"]
    missing = stocked.post("/v1/skills/retire", json={"skills": ["fry", "none"], "reason": "old"})
    assert (missing.status_code, stocked.get("/v1/skills/fry").json()["state"]) == (404, "published")
    retired = stocked.post("/v1/skills/retire", json={"skills": ["fry", "boil", "fry"], "reason": "old"}).json()["skills"]
    assert [(skill["name"], skill["state"]) for skill in retired] == [("fry", "retired"), ("boil", "retired")]


def test_a_page_deep_in_a_list_is_read_from_an_index(scope: Scope, stocked: TestClient) -> None:
    """Whatever the planner thinks of so few rows: without sequential scans it finds the index that gives the order."""
    from sqlalchemy import text

    keysets = [
        ("skill", "id"), ("candidate", "id"), ("episode", "id"), ("job", "id"), ("context", "id"), ("gate", "id"),
        ("decision", "id"), ("skill", "name"), ("suite", "name"), ("event", "seq"), ("episode", "score, id"),
    ]  # fmt: skip
    with scope.database.transaction(scope.workspace_id) as session:
        session.execute(text("SET LOCAL enable_seqscan = off"))
        session.execute(text("SET LOCAL enable_bitmapscan = off"))
        for table, columns in keysets:
            order = ", ".join(f"{column} DESC" for column in columns.split(", "))
            query = f"EXPLAIN SELECT * FROM {table} WHERE workspace_id = 'wsp_test' ORDER BY {order} LIMIT 2"
            plan = "\n".join(session.execute(text(query)).scalars())
            assert "Sort" not in plan, plan
            assert "Index" in plan, plan
