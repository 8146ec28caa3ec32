"""What is held back reaches no agent, by any way, until it is released; and nothing takes its place in silence."""

import pytest
from fastapi.testclient import TestClient

from skillhub.services import skills, versions
from skillhub.services.scope import Scope
from tests.api.test_search_api import document, search

REASON = {"reason": "it may be poisoned"}


@pytest.fixture
def two(api: TestClient) -> TestClient:
    """`boil-water` with two versions, `production` at the second; `grow-plant` beside it."""
    for name in ("boil-water", "grow-plant"):
        assert api.post("/v1/skills", json={"name": name, "document": document(name, f"To {name}.")}).status_code == 201
    body = {"document": document("boil-water", "To boil-water, second."), "label": "production"}
    assert api.post("/v1/skills/boil-water/versions", json=body).status_code == 201
    return api


def shown(api: TestClient) -> set[str]:
    """Every way in which an agent is shown a skill."""
    found = set(search(api, "boil water"))
    [context] = api.post("/v1/contexts", json={"tasks": ["boil water"], "k": 10}).json()["contexts"]
    assert {entry["skill"] for entry in context["entries"]} == found
    lines = api.get("/v1/exports/ndjson").text
    assert ('"boil-water"' in lines) == ("boil-water" in found)
    return found


def test_a_skill_that_is_held_back_is_shown_nowhere_until_it_is_released(two: TestClient) -> None:
    assert shown(two) == {"boil-water", "grow-plant"}
    held = two.post("/v1/skills/boil-water/quarantine", json=REASON).json()
    assert held["state"] == "quarantined"
    assert shown(two) == {"grow-plant"}
    assert two.get("/v1/skills", params={"state": "quarantined"}).json()["items"][0]["name"] == "boil-water"
    assert two.post("/v1/skills/boil-water/release").json()["state"] == "published"
    assert shown(two) == {"boil-water", "grow-plant"}
    kinds = [event["kind"] for event in two.get("/v1/events", params={"limit": 200}).json()["items"]]
    assert [kind for kind in kinds if kind.startswith("skill.")][-2:] == ["skill.quarantined", "skill.released"]


def test_a_label_on_a_version_that_is_held_back_serves_nothing_in_its_place(two: TestClient) -> None:
    [held] = two.post("/v1/skills/boil-water/versions/2/quarantine", json=REASON).json()["versions"]
    assert held["held_because"] == REASON["reason"]
    assert shown(two) == {"grow-plant"}
    assert two.get("/v1/skills/boil-water").json()["labels"]["production"] == 2
    assert two.get("/v1/skills/boil-water/versions/2").json()["held_because"] == REASON["reason"]
    assert two.post("/v1/skills/boil-water/versions/2/release").json()["held_because"] is None
    assert shown(two) == {"boil-water", "grow-plant"}


def test_rolling_back_from_a_version_that_is_held_back_serves_the_one_before(two: TestClient) -> None:
    two.post("/v1/skills/boil-water/versions/2/quarantine", json=REASON)
    assert two.post("/v1/skills/boil-water/rollback", json={"number": 1}).status_code == 201
    assert shown(two) == {"boil-water", "grow-plant"}


def test_nothing_leads_back_to_a_version_that_is_held_back(two: TestClient) -> None:
    two.post("/v1/skills/boil-water/versions/1/quarantine", json=REASON)
    etag = two.get("/v1/skills/boil-water/labels/production").headers["ETag"]
    moved = two.put("/v1/skills/boil-water/labels/production", json={"number": 1}, headers={"If-Match": etag})
    back = two.post("/v1/skills/boil-water/rollback", json={"number": 1})
    assert [answer.status_code for answer in (moved, back)] == [409, 409]
    assert REASON["reason"] in moved.json()["detail"]


def test_a_cache_that_asks_again_gets_the_new_state(two: TestClient) -> None:
    path = "/v1/skills/boil-water/versions/2"
    first = two.get(path)
    assert first.headers["Cache-Control"] == "private, no-cache"
    assert two.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    two.post(f"{path}/quarantine", json=REASON)
    assert two.get(path, headers={"If-None-Match": first.headers["ETag"]}).json()["held_because"] == REASON["reason"]


def test_what_descends_from_a_version_is_held_back_with_it_across_skills(two: TestClient, scope: Scope) -> None:
    with scope.transaction() as unit:
        first = versions.numbered_in(unit, skills.get_in(unit, "boil-water"), 1)
        facts = {"name": "make-tea", "kind": "skill", "document": document("make-tea", "To make tea.")}
        versions.publish_in(unit, **facts, parents=[(first.id, "split")])
    found = two.get(f"/v1/versions/{first.id}/descendants").json()["items"]
    assert {(item["skill"], item["number"]) for item in found} == {("boil-water", 2), ("make-tea", 1)}
    page = two.get(f"/v1/versions/{first.id}/descendants", params={"limit": 1}).json()
    rest = two.get(f"/v1/versions/{first.id}/descendants", params={"limit": 1, "cursor": page["next_cursor"]}).json()
    assert [item["id"] for item in page["items"] + rest["items"]] == [item["id"] for item in found]
    held = two.post("/v1/skills/boil-water/versions/1/quarantine", json=REASON | {"with_descendants": True}).json()
    assert len(held["versions"]) == 3
    assert set(search(two, "make tea")) == {"grow-plant"}


def test_holding_twice_changes_nothing_and_what_is_retired_stays_so(two: TestClient) -> None:
    for _ in range(2):
        assert two.post("/v1/skills/boil-water/versions/1/quarantine", json=REASON).status_code == 200
        assert two.post("/v1/skills/boil-water/quarantine", json=REASON).status_code == 200
    kinds = [event["kind"] for event in two.get("/v1/events", params={"limit": 200}).json()["items"]]
    assert (kinds.count("version.quarantined"), kinds.count("skill.quarantined")) == (1, 1)
    two.post("/v1/skills/boil-water/retire", json=REASON)
    for act in ("quarantine", "release"):
        assert two.post(f"/v1/skills/boil-water/{act}", json=REASON).status_code == 409
    assert two.get("/v1/versions/ver_nothing/descendants").status_code == 404
