"""Whatever is sent, the answer is a problem document and never a 5xx."""

import json

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from skillhub.config import Settings
from tests.db.gating import document

HALF = "\ud800"
EPISODE = {"key": "e1", "environment": "k", "task": "boil", "slice": "boil", "score": 1.0, "success": True}
CANDIDATE = {
    "skill_name": "boil", "kind": "skill", "document": document("Heat it."), "target_slice": "boil", "proposer": "me",
}  # fmt: skip

HALVES = [
    ("PUT", "/v1/suites/x", {"cases": [{"key": HALF, "split": "dev", "slice": "boil", "spec": {}}]}),
    ("POST", "/v1/skills", {"name": "boil", "document": document("Heat it."), "message": HALF}),
    ("POST", "/v1/episodes/batch", {"episodes": [EPISODE | {"context_id": HALF}]}),
    ("POST", "/v1/candidates", CANDIDATE | {"proposer": HALF}),
    ("POST", "/v1/candidates", CANDIDATE | {"evidence": [{"anchor": HALF, "claim": "Heat it.", "polarity": 1}]}),
    ("POST", "/v1/trials/lease", {"runner": "r", "suites": [HALF]}),
    ("POST", "/v1/curation/extract", {"slices": [HALF]}),
    ("POST", "/v1/skills/boil/retire", {"reason": HALF}),
]


@pytest.mark.parametrize(("method", "path", "body"), HALVES, ids=[path for _, path, _ in HALVES])
def test_half_a_surrogate_pair_is_refused_and_nothing_breaks(api: TestClient, method: str, path: str, body: dict) -> None:
    answer = api.request(method, path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code in (404, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert api.get("/healthz").status_code == 200


def test_a_document_without_any_heading_is_stored_and_found(api: TestClient) -> None:
    plain = "---\nname: egg\ndescription: Fry an egg.\n---\nFry it.\n"
    assert api.post("/v1/skills", json={"name": "egg", "document": plain}).status_code == 201
    assert [hit["skill"] for hit in api.post("/v1/search", json={"query": "fried eggs"}).json()["hits"]] == ["egg"]


def test_what_is_nested_without_end_is_refused(api: TestClient) -> None:
    spec = json.loads("[" * 500 + "]" * 500)
    answer = api.put("/v1/suites/deep", json={"cases": [{"key": "a", "split": "dev", "slice": "s", "spec": {"a": spec}}]})
    assert answer.status_code == 422


@pytest.mark.parametrize("score", [True, "1"])
def test_a_score_that_is_no_number_is_refused(api: TestClient, score: object) -> None:
    answer = api.post("/v1/episodes/batch", json={"episodes": [EPISODE | {"score": score}]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "/body/episodes/0/score"


@pytest.mark.parametrize("k", [True, "3", 0])
def test_a_count_that_is_no_count_is_refused(api: TestClient, k: object) -> None:
    assert api.post("/v1/search", json={"query": "tea", "k": k}).status_code == 422


def test_a_database_without_the_schema_is_not_ready(postgres: str) -> None:
    app = create_app(Settings(database_url=postgres.format(name="postgres"), secret="s"), announce=print)
    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "skillhub migrate" in answer.json()["detail"]


def test_the_pages_begin_with_the_skills(api: TestClient) -> None:
    assert api.get("/ui", follow_redirects=False).headers["location"] == "/ui/skills"
