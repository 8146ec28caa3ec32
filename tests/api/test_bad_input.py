"""Whatever is sent, the answer is a problem document and never a 5xx."""

import json

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.schemas.base import Body
from skillhub.config import Settings
from skillhub.store.session import Database
from tests.db.gating import document

HALF = "\ud800"
EPISODE = {"key": "e1", "environment": "k", "task": "boil", "slice": "boil", "score": 1.0, "success": True}
CANDIDATE = {
    "skill_name": "boil", "kind": "skill", "document": document("Heat it."), "target_slice": "boil", "proposer": "me",
}  # fmt: skip

GATE = "/v1/candidates/can_x/gate"
CASE = {"key": "a", "split": "dev", "slice": "boil", "spec": {}}
CLAIM = {"anchor": "steps", "claim": "Heat it.", "polarity": 1}
PLACES = [
    ("PUT", "/v1/suites/x", {"cases": [CASE | {"key": HALF}]}, "cases/0/key"),
    ("PUT", "/v1/suites/x", {"cases": [CASE | {"slice": HALF}]}, "cases/0/slice"),
    ("PUT", "/v1/suites/x", {"cases": [CASE | {"spec": {"a": ["b", HALF]}}]}, "cases/0/spec/a/1"),
    ("POST", "/v1/skills", {"name": "boil", "document": document("Heat it."), "message": HALF}, "message"),
    ("POST", "/v1/skills/boil/versions", {"document": document("Heat it."), "message": HALF}, "message"),
    ("POST", "/v1/skills/boil/versions", {"base": 1, "operations": [{"op": "set_metadata", "key": HALF}]}, "operations/0/key"),
    ("POST", "/v1/skills/boil/rollback", {"number": 1, "message": HALF}, "message"),
    ("POST", "/v1/skills/boil/retire", {"reason": HALF}, "reason"),
    ("POST", "/v1/episodes/batch", {"episodes": [EPISODE | {"key": HALF}]}, "episodes/0/key"),
    ("POST", "/v1/episodes/batch", {"episodes": [EPISODE | {"context_id": HALF}]}, "episodes/0/context_id"),
    ("POST", "/v1/episodes/batch", {"episodes": [EPISODE | {"trial_id": HALF}]}, "episodes/0/trial_id"),
    (
        "POST", "/v1/episodes/batch", {"episodes": [EPISODE | {"exposures": [{"version_id": HALF, "rank": 1, "score": 1}]}]},
        "episodes/0/exposures/0/version_id",
    ),
    *(("POST", "/v1/candidates", CANDIDATE | {f: HALF}, f) for f in ("skill_name", "proposer", "target_slice", "rationale")),
    ("POST", "/v1/candidates", CANDIDATE | {"evidence": [CLAIM | {"anchor": HALF}]}, "evidence/0/anchor"),
    ("POST", "/v1/candidates", CANDIDATE | {"evidence": [CLAIM | {"claim": HALF}]}, "evidence/0/claim"),
    ("POST", "/v1/candidates", CANDIDATE | {"evidence": [CLAIM | {"episode_ids": [HALF]}]}, "evidence/0/episode_ids/0"),
    *(("POST", GATE, {"suite": "s"} | {f: HALF}, f) for f in ("suite", "target_slice")),
    *(("POST", GATE, {"suite": "s"} | {f: [HALF]}, f"{f}/0") for f in ("protected_slices", "companions")),
    ("POST", GATE, {"suite": "s", "policy": {HALF: 1}}, "policy/\ufffd"),
    ("POST", GATE, {"suite": "s", "policy": {"locked_slices": [HALF]}}, "policy/locked_slices/0"),
    ("POST", "/v1/trials/lease", {"runner": "r", "suites": [HALF]}, "suites/0"),
    ("POST", "/v1/trials/trl_x/heartbeat", {"lease_token": HALF}, "lease_token"),
    ("POST", "/v1/trials/trl_x/fail", {"lease_token": "t", "error": HALF}, "error"),
    (
        "POST", "/v1/trials/trl_x/finish", {"lease_token": "t", "score": 1, "episode": EPISODE | {"context_id": HALF}},
        "episode/context_id",
    ),
    ("POST", "/v1/curation/extract", {"slices": [HALF]}, "slices/0"),
]  # fmt: skip
MADE_STORABLE = {"observation", "action", "task"}
CHECKED_LATER = {"document", "query", "tasks", "attributes"}
"""By the parser of documents, by `normalise`; a half of a pair is refused by their longest length."""


@pytest.mark.parametrize("character", [HALF, "\0"], ids=["half a surrogate pair", "NUL"])
@pytest.mark.parametrize(("method", "path", "body", "place"), PLACES, ids=[f"{p} {place!a}" for _, p, _, place in PLACES])
def test_what_cannot_be_stored_is_refused_with_its_path(
    api: TestClient, method: str, path: str, body: dict, place: str, character: str
) -> None:
    content = json.dumps(body).replace(json.dumps(HALF)[1:-1], json.dumps(character)[1:-1])
    answer = api.request(method, path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0]["path"] == f"/body/{place}"
    assert "cannot be stored" in answer.json()["detail"]


@pytest.mark.parametrize("body", sorted(Body.__subclasses__(), key=lambda body: body.__name__), ids=lambda body: body.__name__)
def test_no_field_of_a_body_takes_any_text_whatever(body: type[Body]) -> None:
    schema = body.model_json_schema()
    for name, field in schema["properties"].items():
        for text in (part for part in _parts(field) if part.get("type") == "string" and not {"enum", "format"} & part.keys()):
            assert "pattern" in text or name in MADE_STORABLE | CHECKED_LATER, name


def _parts(schema: dict) -> list[dict]:
    inner = [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    return [schema, *(part for each in inner for part in _parts(each))]


def test_what_an_environment_said_is_made_storable(api: TestClient) -> None:
    steps = [{"observation": f"binary {HALF}", "action": "cat \0"}]
    body = json.dumps({"episodes": [EPISODE | {"task": f"boil {HALF}", "steps": steps}]})
    answer = api.post("/v1/episodes/batch", content=body, headers={"Content-Type": "application/json"})
    stored = api.get(f"/v1/episodes/{answer.json()['results'][0]['id']}").json()
    assert (stored["task"], stored["steps"][0]["observation"], stored["steps"][0]["action"]) == (
        "boil \ufffd", "binary \ufffd", "cat \ufffd",
    )  # fmt: skip


def test_an_unknown_field_of_half_a_character_is_refused(api: TestClient) -> None:
    answer = api.post("/v1/search", content=json.dumps({"query": "tea", HALF: 1}), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


def test_what_the_database_says_is_not_told(api: TestClient) -> None:
    answer = api.get("/v1/skills/a%00b")
    assert answer.status_code in (404, 422)
    assert "PostgreSQL" not in answer.text


@pytest.mark.parametrize("alpha", ["1" + "0" * 400, "true", '"0.05"', "1e999"])
def test_a_constant_of_the_gate_that_is_no_number_is_refused(api: TestClient, alpha: str) -> None:
    suite = {"cases": [CASE | {"key": str(i), "spec": {"i": i}} for i in range(16)]}
    assert api.put("/v1/suites/s", json=suite).status_code == 200
    candidate = api.post("/v1/candidates", json=CANDIDATE).json()["id"]
    body = f'{{"suite": "s", "policy": {{"alpha": {alpha}}}}}'
    answer = api.post(f"/v1/candidates/{candidate}/gate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"].endswith("/policy/alpha")


def test_a_claim_that_no_sentence_states_is_refused_with_its_path(api: TestClient) -> None:
    listed = CANDIDATE | {"document": document("1. Heat   it.\n2. Wait.")}
    for claim, status in (("1. Heat it.", 422), ("Stir.", 422), ("Heat it.", 201)):
        answer = api.post("/v1/candidates", json=listed | {"evidence": [CLAIM, CLAIM | {"claim": claim}]})
        assert answer.status_code == status, claim
        if status == 422:
            assert answer.json()["errors"][0]["path"] == "/evidence/1/claim"
            assert "bullets" in answer.json()["detail"]


def test_a_text_that_is_too_long_is_counted_in_characters(api: TestClient) -> None:
    answer = api.post("/v1/skills", json={"name": "x" * 300, "document": "d"})
    assert answer.json()["errors"][0]["message"] == "String should have at most 256 characters"


def test_messages_are_in_our_own_words(api: TestClient) -> None:
    assert "Value error" not in api.post("/v1/search", json={"query": " "}).text


def test_a_document_without_any_heading_is_stored_and_found(api: TestClient) -> None:
    plain = "---\nname: egg\ndescription: Fry an egg.\n---\nFry it.\n"
    assert api.post("/v1/skills", json={"name": "egg", "document": plain}).status_code == 201
    assert [hit["skill"] for hit in api.post("/v1/search", json={"query": "fried eggs"}).json()["hits"]] == ["egg"]


def test_what_is_nested_without_end_is_refused(api: TestClient) -> None:
    spec = json.loads("[" * 500 + "]" * 500)
    answer = api.put("/v1/suites/deep", json={"cases": [{"key": "a", "split": "dev", "slice": "s", "spec": {"a": spec}}]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"].startswith("/body/cases/0/spec/a/0/0")


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


def test_a_ready_server_stays_ready_while_the_schema_moves_ahead_of_it(api: TestClient, database: Database) -> None:
    assert api.get("/readyz").status_code == 200
    with database.engine.begin() as owner:
        owner.exec_driver_sql("UPDATE alembic_version SET version_num = 'later'")
    assert api.get("/readyz").status_code == 200


@pytest.mark.parametrize("name", ["A", "a/b", "-x", "a" * 65, "", "é"])
def test_a_branch_has_a_name_that_can_stand_in_an_address(api: TestClient, name: str) -> None:
    answer = api.post("/v1/skills/x/branches", json={"name": name})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "/body/name")
    assert "must be a-z" in answer.json()["detail"]


def test_a_file_that_is_no_base64_is_refused_with_its_item(api: TestClient) -> None:
    item = {"name": "boil", "document": document("Heat it.")}
    items = [item, item | {"files": [{"path": "a", "content_base64": "!"}]}]
    answer = api.post("/v1/publications", json={"items": items})
    assert answer.json()["errors"][0]["path"] == "/body/items/1/files/0/content_base64"
