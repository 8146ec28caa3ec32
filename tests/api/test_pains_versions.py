"""What users of such stores suffer from in versions and labels: `../shared/stores.md`, section 5, by number."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

NAME = "boil-water"
HEAD = f"---\nname: {NAME}\ndescription: How to boil water.\n"


def document(steps: str = "Heat it.", *, head: str = HEAD) -> str:
    return f"{head}---\n\n# Boil\n\n## Steps\n\n{steps}\n"


def create(api: TestClient, **more: object) -> dict:
    answer = api.post("/v1/skills", json={"name": NAME, "document": document()} | more)
    assert answer.status_code == 201, answer.text
    return answer.json()


def publish(api: TestClient, **body: object) -> dict:
    answer = api.post(f"/v1/skills/{NAME}/versions", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_01_an_edit_of_the_text_keeps_the_metadata_and_null_clears_it(api: TestClient) -> None:
    create(api, document=document(head=HEAD + "metadata:\n  category: kitchen\n"))
    replaced = [{"op": "replace", "anchor": "steps", "text": "Heat it well."}]
    edited = publish(api, operations=replaced, base=1)["document"]
    assert ("Heat it well." in edited, "  category: kitchen\n" in edited) == (True, True)
    cleared = publish(api, operations=[{"op": "set_metadata", "key": "metadata.category", "value": None}], base=2)["document"]
    assert ("category" in cleared, "Heat it well." in cleared) == (False, True)


def test_02_an_empty_selection_retires_nobody(api: TestClient) -> None:
    create(api)
    for body in ({"skills": [], "reason": "old"}, {"reason": "old"}, {}):
        assert api.post("/v1/skills/retire", json=body).status_code == 422
    assert api.get(f"/v1/skills/{NAME}").json()["state"] == "published"


def test_17_equal_creates_at_once_make_one_version(api: TestClient) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: create(api), range(20)))
    assert {(skill["id"], skill["latest_version"]["number"]) for skill in made} == {(made[0]["id"], 1)}
    assert len(api.get(f"/v1/skills/{NAME}/versions").json()["items"]) == 1


def test_18_versions_made_at_once_are_numbered_one_by_one_and_no_number_comes_twice(api: TestClient) -> None:
    create(api)
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda i: publish(api, document=document(f"Step {i}."))["number"], range(20)))
    assert sorted(numbers) == list(range(2, 22))
    assert api.delete(f"/v1/skills/{NAME}/versions/21").status_code == 405
    api.post(f"/v1/skills/{NAME}/versions/21/quarantine", json={"reason": "bad"})
    assert publish(api, document=document("After it."))["number"] == 22


def test_20_a_number_is_never_read_as_a_label_and_a_removed_label_is_gone_at_once(api: TestClient) -> None:
    create(api)
    assert api.put(f"/v1/skills/{NAME}/labels/3", json={"number": 1}).status_code == 422
    assert api.get(f"/v1/skills/{NAME}/labels/1").status_code == 404
    label = f"/v1/skills/{NAME}/labels/production"
    search = {"query": "boil water", "min_seq": api.get("/v1/events").json()["items"][-1]["seq"]}
    assert len(api.post("/v1/search", json=search).json()["hits"]) == 1
    assert api.delete(label).status_code == 412
    assert api.delete(label, headers={"If-Match": '"1"'}, params={"reason": "harmful"}).status_code == 204
    assert api.get(label).status_code == 404
    assert api.post("/v1/search", json=search | {"min_seq": search["min_seq"] + 1}).json()["hits"] == []
    assert api.post("/v1/labels/query", json={"skills": [NAME]}).json()["labels"] == []


@pytest.mark.parametrize("name", ["a/b", "a%2Fb", "x ", " x", "x\u200b", "X", "x\t", ""])
def test_22_a_name_has_one_form_on_writing_and_on_reading(api: TestClient, name: str) -> None:
    """What is trimmed on writing is found under the trimmed name; anything else is refused or not found, never a 500."""
    canonical = name.strip()
    made = api.post("/v1/skills", json={"name": name, "document": f"---\nname: {canonical}\ndescription: d\n---\n\nHi.\n"})
    assert (made.status_code, made.status_code == 201) in ((201, canonical == "x"), (422, canonical == "x"))
    if made.status_code == 201:
        assert made.json()["name"] == api.get("/v1/skills/x").json()["name"] == api.get("/v1/skills/x%20").json()["name"] == "x"
    else:
        assert api.get("/v1/skills", params={"prefix": canonical}).json()["items"] == []
