"""What every route has without asking for it."""

import re

import pytest
from fastapi.testclient import TestClient

from tests.db.gating import document

GETS = ("/v1/skills", "/v1/skills/boil", "/v1/skills/boil/versions", "/v1/events", "/v1/jobs", "/healthz")


@pytest.fixture
def stocked(api: TestClient) -> TestClient:
    for name in ("boil", "fry"):
        assert api.post("/v1/skills", json={"name": name, "document": document("Heat it.", name=name)}).status_code == 201
    return api


@pytest.mark.parametrize("path", GETS)
def test_an_unknown_query_parameter_is_refused_by_name(stocked: TestClient, path: str) -> None:
    answer = stocked.get(path, params={"priority[gte]": 3})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "/query/priority[gte]"


@pytest.mark.parametrize("path", GETS)
def test_an_answer_that_is_known_is_not_sent_again(stocked: TestClient, path: str) -> None:
    first = stocked.get(path)
    assert re.fullmatch(r'"[0-9a-f]+"', first.headers["ETag"])
    assert first.headers["Cache-Control"] == "private, no-cache"
    again = stocked.get(path, headers={"If-None-Match": f'"other", W/{first.headers["ETag"]}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])


def test_an_answer_that_changed_is_sent(stocked: TestClient) -> None:
    before = stocked.get("/v1/skills/boil").headers["ETag"]
    stocked.post("/v1/skills/boil/retire", json={"reason": "old"})
    after = stocked.get("/v1/skills/boil", headers={"If-None-Match": before})
    assert after.status_code == 200
    assert after.headers["ETag"] != before


def test_a_label_keeps_the_etag_of_its_own(stocked: TestClient) -> None:
    answer = stocked.get("/v1/skills/boil/labels/production")
    assert answer.headers["ETag"] == '"1"'
    assert stocked.get("/v1/skills/boil/labels/production", headers={"If-None-Match": '"1"'}).status_code == 304


def test_only_the_fields_asked_for_come(stocked: TestClient) -> None:
    page = stocked.get("/v1/skills", params={"fields": "name,latest_version.number", "limit": 1}).json()
    assert page["items"] == [{"name": "boil", "latest_version": {"number": 1}}]
    assert page["next_cursor"]
    assert stocked.get("/v1/skills/fry", params={"fields": "labels.production, kind"}).json() == {
        "labels": {"production": 1}, "kind": "skill",
    }  # fmt: skip
    events = stocked.get("/v1/events", params={"fields": "payload.skill"}).json()["items"]
    assert {event["payload"]["skill"] for event in events if event["payload"]} == {"boil", "fry"}


@pytest.mark.parametrize("fields", ["nme", "name,", "latest_version.nme", "name.first", "items", ",", "", "labels..a"])
def test_an_unknown_field_is_refused_and_the_known_are_named(stocked: TestClient, fields: str) -> None:
    for path in ("/v1/skills", "/v1/skills/boil"):
        answer = stocked.get(path, params={"fields": fields})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["path"] == "/query/fields"
    assert "latest_version" in stocked.get("/v1/skills", params={"fields": "nme"}).json()["detail"]


def test_every_answer_says_which_request_it_answers(stocked: TestClient) -> None:
    for path in (*GETS, "/nowhere", "/v1/skills/none"):
        assert re.fullmatch(r"req_[0-9a-z]{26}", stocked.get(path).headers["X-Request-ID"])
    answer = stocked.get("/v1/skills/none", headers={"X-Request-ID": "run-7/step-3"})
    assert answer.headers["X-Request-ID"] == answer.json()["request_id"] == "run-7/step-3"


@pytest.mark.parametrize("sent", ["a b", "x" * 129, 'a"b', "é".encode(), b""])
def test_an_id_that_could_not_stand_in_a_log_is_replaced(stocked: TestClient, sent: str | bytes) -> None:
    answer = stocked.get("/v1/skills", headers={"X-Request-ID": sent})
    assert answer.headers["X-Request-ID"].startswith("req_")


BAD_TEXTS = (
    "a%00b", "%ED%A0%80", "x" * 3000, "a%2Fb", "boil%20", "%E2%80%8Bboil", "boil%E2%80%8B", "%F0%9F%8D%B5", "..%2F..", "%",
)  # fmt: skip
TAKING_NAMES = [
    "/v1/skills/{}", "/v1/skills/{}/versions", "/v1/skills/{}/versions/1", "/v1/skills/boil/labels/{}", "/v1/skills/{}/lineage",
    "/v1/skills/{}/export", "/v1/skills/boil/export?label={}", "/v1/jobs/{}", "/v1/episodes/{}", "/v1/candidates/{}",
    "/v1/gates/{}", "/v1/candidates?slice={}", "/v1/episodes?slice={}", "/v1/jobs?kind={}", "/v1/skills?cursor={}",
    "/v1/suites/{}", "/v1/suites/{}/cases", "/v1/contexts/{}", "/v1/decisions?verdict={}", "/v1/events?kind={}",
    "/ui/skills/{}", "/ui/candidates/{}",
]  # fmt: skip


def test_no_name_in_a_path_or_query_breaks_the_server(stocked: TestClient) -> None:
    for path in TAKING_NAMES:
        for text in BAD_TEXTS:
            assert stocked.get(path.format(text)).status_code in (200, 401, 404, 422), path.format(text)


@pytest.mark.parametrize("name", ["boil ", " boil", "boil\u200b", "b/oil", "b%2Foil", "boil\n", "\ufeffboil"])
def test_a_name_has_one_form_on_write_and_on_read(stocked: TestClient, name: str) -> None:
    body = {"name": name, "document": document("Heat it.", name="boil")}
    answer = stocked.post("/v1/skills", json=body)
    assert answer.status_code == 422 or answer.json()["name"] == "boil"
    assert {skill["name"] for skill in stocked.get("/v1/skills").json()["items"]} == {"boil", "fry"}
    for text in ("key", "slice"):
        case = {"key": "a", "split": "dev", "slice": "boil", "spec": {}} | {text: f"{name} "}
        assert stocked.put("/v1/suites/kitchen", json={"cases": [case]}).status_code == 422
