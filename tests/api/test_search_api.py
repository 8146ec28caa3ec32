"""Search and contexts over HTTP, with the packaged model."""

import pytest
from fastapi.testclient import TestClient

SKILLS = {
    "boil-water": "Bring water to a boil on a stove or with a lighter.",
    "grow-plant": "Grow a plant from a seed in soil until it bears fruit.",
    "煮水": "用炉子把水煮沸",
}


def document(name: str, description: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n## Steps\n\n1. {description}\n"


@pytest.fixture
def published(api: TestClient) -> TestClient:
    for name, description in SKILLS.items():
        assert api.post("/v1/skills", json={"name": name, "document": document(name, description)}).status_code == 201
    return api


def search(api: TestClient, query: str, **fields) -> list[str]:
    answer = api.post("/v1/search", json={"query": query} | fields)
    assert answer.status_code == 200, answer.text
    return [hit["skill"] for hit in answer.json()["hits"]]


def test_the_fitting_skill_comes_first(published: TestClient) -> None:
    assert search(published, "heat a liquid until it bubbles")[0] == "boil-water"
    assert search(published, "gardening with fruit")[0] == "grow-plant"
    assert search(published, "把水煮沸")[0] == "煮水"
    assert search(published, "plant", k=1) == ["grow-plant"]


def test_every_score_is_shown_when_asked_for(published: TestClient) -> None:
    answer = published.post("/v1/search", json={"query": "boil water", "explain": True}).json()
    best = answer["hits"][0]
    assert (best["rank"], best["number"], answer["reranked"]) == (1, 1, False)
    assert best["parts"]["dense"] > 0.5
    assert best["parts"]["lexical"] > 0
    assert best["score"] == best["parts"]["fused"]
    plain = published.post("/v1/search", json={"query": "boil water"}).json()
    assert set(plain) == {"hits", "seq"}
    assert "parts" not in plain["hits"][0]


@pytest.mark.parametrize(
    "query",
    ['"(', "a|b", "-x", "C:\\a/b", "!&|:*<->", "' OR 1=1; --", "\x00", "😀", "the", "%", "\\", "x" * 20_000, "𠀀", "\u202e"],
)
def test_any_text_is_a_query(published: TestClient, query: str) -> None:
    assert len(search(published, query)) == len(SKILLS)
    assert published.post("/v1/contexts", json={"tasks": [query]}).status_code == 201


def test_half_a_character_is_refused_and_named(published: TestClient) -> None:
    for path, body in [("query", '{"query": "a\\ud800b"}'), ("tasks/0", '{"tasks": ["a\\ud800b"]}')]:
        route = "/v1/search" if path == "query" else "/v1/contexts"
        answer = published.post(route, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, f"/body/{path}")


@pytest.mark.parametrize(
    ("field", "value"),
    [("query", ""), ("query", " \n"), ("query", "x" * 20_001), ("k", 0), ("k", 101), ("kind", "poem"), ("unheard_of", 1)],
)
def test_a_bad_field_is_refused_and_named(api: TestClient, field: str, value: object) -> None:
    answer = api.post("/v1/search", json={"query": "water"} | {field: value})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, f"/body/{field}")


def test_an_empty_workspace_has_no_hits(api: TestClient) -> None:
    assert search(api, "water") == []


def test_an_unknown_label_is_404(published: TestClient) -> None:
    for path, body in [("/v1/search", {"query": "x"}), ("/v1/contexts", {"tasks": ["x"]})]:
        assert published.post(path, json=body | {"label": "prodction"}).status_code == 404


def test_a_retired_skill_is_gone_from_search_and_contexts_at_once(published: TestClient) -> None:
    assert search(published, "boil water")[0] == "boil-water"
    assert published.post("/v1/skills/boil-water/retire", json={"reason": "harmful"}).status_code == 200
    assert "boil-water" not in search(published, "boil water")
    [context] = published.post("/v1/contexts", json={"tasks": ["boil water"], "k": 10}).json()["contexts"]
    assert "boil-water" not in context["text"]


def test_a_write_is_seen_by_a_search_that_asks_for_it(published: TestClient) -> None:
    seq = published.get("/v1/events", params={"limit": 200}).json()["items"][-1]["seq"]
    answer = published.post("/v1/search", json={"query": "water", "min_seq": seq})
    assert (answer.status_code, answer.json()["seq"] >= seq) == (200, True)


def test_an_event_that_does_not_come_is_503_with_retry_after(published: TestClient) -> None:
    published.app.state.searcher = type(published.app.state.searcher)(published.app.state.reader, wait_seconds=0.05)
    answer = published.post("/v1/search", json={"query": "water", "min_seq": 10**6})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


def test_contexts_come_in_the_order_of_their_tasks_within_the_budget(published: TestClient) -> None:
    tasks = ["boil water", "grow a plant", "boil water"]
    answer = published.post("/v1/contexts", json={"tasks": tasks, "k": 2, "token_budget": 60})
    assert answer.status_code == 201
    contexts = answer.json()["contexts"]
    assert [context["task"] for context in contexts] == tasks
    assert [context["entries"][0]["skill"] for context in contexts] == ["boil-water", "grow-plant", "boil-water"]
    assert len({context["context_id"] for context in contexts}) == 3
    assert contexts[0]["text"] == contexts[2]["text"]
    for context in contexts:
        assert context["tokens"] <= 60
        assert len(context["entries"]) + len(context["omitted"]) == 2
        assert context["omitted"], "the second does not fit"
        entry = context["entries"][0]
        assert entry["document"] == document(entry["skill"], SKILLS[entry["skill"]])


def test_an_episode_can_name_its_context_and_what_it_showed(published: TestClient) -> None:
    [context] = published.post("/v1/contexts", json={"tasks": ["boil water"], "k": 1}).json()["contexts"]
    shown = [{"version_id": e["version_id"], "rank": e["rank"], "score": e["score"]} for e in context["entries"]]
    episode = {"key": "a", "environment": "e", "task": "boil water", "slice": "boil", "score": 1, "success": True}
    episode |= {"context_id": context["context_id"], "exposures": shown}
    [result] = published.post("/v1/episodes/batch", json={"episodes": [episode]}).json()["results"]
    stored = published.get(f"/v1/episodes/{result['id']}").json()
    assert stored["context_id"] == context["context_id"]
    assert [item["version_id"] for item in stored["exposures"]] == [shown[0]["version_id"]]


def test_credentials_in_a_task_are_not_kept(published: TestClient) -> None:
    secret = "sk-live-4f9A8b7C6d5E4f3A2b1C"
    answer = published.post(
        "/v1/contexts", json={"tasks": [f"boil water, api_key: {secret}"]}, headers={"Idempotency-Key": "k"}
    )
    assert answer.status_code == 201
    assert secret not in answer.text


def test_an_idempotency_key_gives_the_same_contexts(published: TestClient) -> None:
    body, headers = {"tasks": ["boil water"]}, {"Idempotency-Key": "once"}
    first = published.post("/v1/contexts", json=body, headers=headers)
    again = published.post("/v1/contexts", json=body, headers=headers)
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()


def test_a_batch_of_contexts_has_a_limit(api: TestClient) -> None:
    assert api.post("/v1/contexts", json={"tasks": ["x"] * 513}).status_code == 422
    assert api.post("/v1/contexts", json={"tasks": []}).status_code == 422
