"""Episodes over HTTP."""

import json

import pytest
from fastapi.testclient import TestClient


def episode(key: str, **fields) -> dict:
    values = {"environment": "scienceworld", "task": "Boil water.", "slice": "boil", "score": 1.0, "success": True}
    steps = [{"observation": "a room", "action": "open door", "reward": 0.5, "score": 0.5}]
    return {"key": key, **values, "steps": steps} | fields


def test_a_batch_is_stored_and_read_back(api: TestClient) -> None:
    answer = api.post("/v1/episodes/batch", json={"episodes": [episode("a", seed=2**40), episode("b")]})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [(item["key"], item["created"]) for item in results] == [("a", True), ("b", True)]
    one = api.get(f"/v1/episodes/{results[0]['id']}").json()
    assert (one["key"], one["seed"], one["steps"][0]["action"], one["exposures"]) == ("a", 2**40, "open door", [])


def test_sending_a_batch_again_stores_nothing_twice(api: TestClient) -> None:
    first = api.post("/v1/episodes/batch", json={"episodes": [episode("a")]}).json()["results"][0]
    again = api.post("/v1/episodes/batch", json={"episodes": [episode("a")]}).json()["results"][0]
    assert again == first | {"created": False}
    other = api.post("/v1/episodes/batch", json={"episodes": [episode("a", score=0.0)]})
    assert (other.status_code, "'a'" in other.json()["detail"]) == (409, True)


def test_an_idempotency_key_repeats_the_answer(api: TestClient) -> None:
    headers = {"Idempotency-Key": "once"}
    first = api.post("/v1/episodes/batch", json={"episodes": [episode("a")]}, headers=headers)
    again = api.post("/v1/episodes/batch", json={"episodes": [episode("a")]}, headers=headers)
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")
    assert api.post("/v1/episodes/batch", json={"episodes": []}, headers=headers).status_code == 422


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"score": 1.5}, "/body/episodes/1/score"),
        ({"steps": [{"observation": "", "action": "", "score": -1}]}, "/body/episodes/1/steps/0/score"),
        ({"exposures": [{"version_id": "ver_no", "rank": 1, "score": 0}]}, "/body/episodes/1/exposures/0/version_id"),
        ({"context_id": "ctx_no"}, "/body/episodes/1/context_id"),
        ({"unheard_of": 1}, "/body/episodes/1/unheard_of"),
        ({"slice": " "}, "/body/episodes/1/slice"),
    ],
)
def test_a_bad_field_refuses_the_batch_and_is_named(api: TestClient, fields: dict, path: str) -> None:
    answer = api.post("/v1/episodes/batch", json={"episodes": [episode("good"), episode("bad", **fields)]})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, path)
    assert api.get("/v1/episodes").json()["items"] == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_score_that_is_no_number_is_refused(api: TestClient, number: str) -> None:
    body = json.dumps({"episodes": [episode("a", score="here")]}).replace('"here"', number)
    answer = api.post("/v1/episodes/batch", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "/body/episodes/0/score")


def test_a_batch_has_a_limit(api: TestClient) -> None:
    answer = api.post("/v1/episodes/batch", json={"episodes": [episode(str(number), steps=[]) for number in range(501)]})
    assert answer.status_code == 422


def test_pages_show_every_episode_once_newest_first(api: TestClient) -> None:
    for number in range(3):
        batch = [episode(f"{number}-{part}", slice=f"slice-{part}", split="train" if number else "dev") for part in range(3)]
        api.post("/v1/episodes/batch", json={"episodes": batch})
    keys, cursor = [], None
    while True:
        page = api.get("/v1/episodes", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        keys += [item["key"] for item in page["items"]]
        assert all("steps" not in item for item in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(keys) == sorted(f"{number}-{part}" for number in range(3) for part in range(3))
    assert [key[0] for key in keys] == list("222111000")
    filtered = api.get("/v1/episodes", params={"slice": "slice-1", "split": "train"}).json()["items"]
    assert sorted(item["key"] for item in filtered) == ["1-1", "2-1"]


def test_an_unknown_episode_is_not_found(api: TestClient) -> None:
    assert api.get("/v1/episodes/eps_none").status_code == 404
