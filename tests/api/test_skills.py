"""What the catalogue's routes promise."""

import base64
import io
import zipfile

import pytest
from fastapi.testclient import TestClient

NAME = "boil-water"


def text(body: str = "Heat it.", name: str = NAME) -> str:
    return f"---\nname: {name}\ndescription: How to boil water.\n---\n\n# Boil\n\n## Steps\n\n1. {body}\n"


def create(api: TestClient, name: str = NAME, **more) -> dict:
    answer = api.post("/v1/skills", json={"name": name, "document": text(name=name)} | more)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_created_skill_can_be_read_back(api: TestClient) -> None:
    made = create(api, message="first")
    assert made["labels"] == {"latest": 1, "production": 1}
    assert made["latest_version"]["document"] == text()
    assert made["latest_version"]["message"] == "first"
    assert api.get(f"/v1/skills/{NAME}").json() == made


def test_a_faulty_document_is_refused_with_the_line(api: TestClient) -> None:
    document = "---\nname: boil-water\ndescription: Use when: boiling\n---\n"
    answer = api.post("/v1/skills", json={"name": NAME, "document": document})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["line"] == 3
    assert api.get("/v1/skills").json()["items"] == []


@pytest.mark.parametrize(
    "change", [{"unknown": 1}, {"kind": "potion"}, {"message": "a\0b"}, {"label": "3"}, {"document": "---\0"}, {"name": "x"}]
)
def test_a_faulty_body_is_refused(api: TestClient, change: dict) -> None:
    assert api.post("/v1/skills", json={"name": NAME, "document": text()} | change).status_code == 422


def test_an_edit_needs_the_newest_version_as_base(api: TestClient) -> None:
    create(api)
    edit = {"operations": [{"op": "add", "anchor": "steps", "text": "2. Wait."}], "base": 1}
    answer = api.post(f"/v1/skills/{NAME}/versions", json=edit)
    assert answer.status_code == 201
    assert answer.json()["document"] == text() + "2. Wait.\n"
    assert answer.json()["parents"][0]["relation"] == "edit"
    assert api.post(f"/v1/skills/{NAME}/versions", json=edit).status_code == 409
    assert api.post(f"/v1/skills/{NAME}/versions", json={"operations": edit["operations"]}).status_code == 422


def test_a_faulty_operation_is_named(api: TestClient) -> None:
    create(api)
    operations = [{"op": "add", "anchor": "", "text": "x"}, {"op": "remove", "anchor": "nowhere"}]
    answer = api.post(f"/v1/skills/{NAME}/versions", json={"operations": operations, "base": 1})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "/operations/1/anchor"


@pytest.mark.parametrize("path", ["nothing", f"{NAME}/versions/2", f"{NAME}/labels/staging"])
def test_what_is_not_there_is_not_found(api: TestClient, path: str) -> None:
    create(api)
    assert api.get(f"/v1/skills/{path}").status_code == 404


def test_pages_hold_each_skill_once(api: TestClient) -> None:
    names = [f"skill-{number}" for number in range(5)]
    for name in names:
        create(api, name)
    seen, cursor = [], None
    while True:
        page = api.get("/v1/skills", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [item["name"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == names
    assert api.get("/v1/skills", params={"cursor": "§"}).status_code == 422


def test_history_is_newest_first(api: TestClient) -> None:
    create(api)
    for body in ("a", "b"):
        api.post(f"/v1/skills/{NAME}/versions", json={"document": text(body)})
    page = api.get(f"/v1/skills/{NAME}/versions", params={"limit": 2}).json()
    assert [item["number"] for item in page["items"]] == [3, 2]
    rest = api.get(f"/v1/skills/{NAME}/versions", params={"cursor": page["next_cursor"]}).json()
    assert [item["number"] for item in rest["items"]] == [1]


def test_a_label_moves_only_with_its_etag(api: TestClient) -> None:
    create(api)
    api.post(f"/v1/skills/{NAME}/versions", json={"document": text("a")})
    url = f"/v1/skills/{NAME}/labels/production"
    etag = api.get(url).headers["etag"]
    assert api.put(url, json={"number": 2}).status_code == 412
    assert api.put(url, json={"number": 2}, headers={"If-Match": etag}).json()["number"] == 2
    assert api.put(url, json={"number": 1}, headers={"If-Match": etag}).status_code == 412
    assert api.put(f"/v1/skills/{NAME}/labels/staging", json={"number": 1}).json()["revision"] == 1


def test_a_retired_skill_stays_readable_and_takes_no_version(api: TestClient) -> None:
    create(api)
    assert api.post(f"/v1/skills/{NAME}/retire", json={"reason": "harmful"}).json()["state"] == "retired"
    assert api.post(f"/v1/skills/{NAME}/versions", json={"document": text("a")}).status_code == 409
    assert api.get(f"/v1/skills/{NAME}/versions/1").status_code == 200
    assert [item["name"] for item in api.get("/v1/skills?state=retired").json()["items"]] == [NAME]


def test_an_export_holds_the_bytes_that_were_sent(api: TestClient) -> None:
    script = b"#!/bin/sh\r\necho \xff\n"
    file = {"path": "scripts/heat.sh", "mode": 0o755, "content_base64": base64.b64encode(script).decode()}
    create(api, files=[file])
    archive = zipfile.ZipFile(io.BytesIO(api.get(f"/v1/skills/{NAME}/export").content))
    assert archive.read(f"{NAME}/SKILL.md") == text().encode()
    assert archive.read(f"{NAME}/scripts/heat.sh") == script
    assert archive.getinfo(f"{NAME}/scripts/heat.sh").external_attr >> 16 & 0o777 == 0o755
    assert api.get(f"/v1/skills/{NAME}/export?version=9").status_code == 404
    assert api.get(f"/v1/skills/{NAME}/export?label=nothing").status_code == 404


@pytest.mark.parametrize("path", ["../../.rc", "/etc/x", "a\\b", "C:x", "SKILL.md", "skill.md", "a//b", "a/./b", "x\u202ey"])
def test_a_file_path_that_leaves_the_folder_or_collides_is_refused(api: TestClient, path: str) -> None:
    file = {"path": path, "content_base64": ""}
    answer = api.post("/v1/skills", json={"name": NAME, "document": text(), "files": [file]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == f"/files/{path}"


def test_events_tell_what_happened_in_order(api: TestClient) -> None:
    create(api)
    events = api.get("/v1/events").json()["items"]
    assert [event["kind"] for event in events] == [
        "key.created", "skill.created", "version.published", "label.moved", "label.moved"
    ]  # fmt: skip
    rest = api.get("/v1/events", params={"after": events[1]["seq"], "limit": 2}).json()
    assert [event["seq"] for event in rest["items"]] == [3, 4]
    more = api.get("/v1/events", params={"after": events[1]["seq"], "limit": 2, "cursor": rest["next_cursor"]}).json()
    assert [event["seq"] for event in more["items"]] == [5]
    down = api.get("/v1/events", params={"sort": "-seq", "kind": "label.moved"}).json()
    assert [event["seq"] for event in down["items"]] == [5, 4]


def test_lineage_and_blame_of_a_hand_written_skill_name_its_versions(api: TestClient) -> None:
    create(api)
    edit = {"operations": [{"op": "add", "anchor": "steps", "text": "2. Wait."}], "base": 1}
    api.post(f"/v1/skills/{NAME}/versions", json=edit)
    lineage = api.get(f"/v1/skills/{NAME}/lineage").json()
    assert [node["number"] for node in lineage["nodes"]] == [1, 2]
    assert [edge["relation"] for edge in lineage["edges"]] == ["edit"]
    blame = api.get(f"/v1/skills/{NAME}/versions/2/blame").json()["sentences"]
    assert [(s["text"], s["anchor"], s["introduced_in"]) for s in blame] == [("Heat it.", "steps", 1), ("Wait.", "steps", 2)]
    assert all(s["decision"] is None and s["evidence"] == [] for s in blame)


def test_every_route_needs_a_key(api: TestClient) -> None:
    del api.headers["Authorization"]
    for path in ("/v1/skills", "/v1/events", f"/v1/skills/{NAME}/lineage", f"/v1/skills/{NAME}/export"):
        assert api.get(path).status_code == 401
