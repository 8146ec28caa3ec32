"""The bulk streams over HTTP."""

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from api import ndjson

TYPE = {"Content-Type": "application/x-ndjson"}


def line(name: str, body: str = "Do it.", **more: object) -> dict:
    return {"name": name, "document": f"---\nname: {name}\ndescription: d\n---\n{body}\r\n"} | more


def sent(api: TestClient, lines: list[dict | bytes], pieces: int = 1000) -> list[dict]:
    body = b"\n".join(item if isinstance(item, bytes) else json.dumps(item).encode() for item in lines)
    chunks: Iterator[bytes] = (body[at : at + pieces] for at in range(0, len(body), pieces))
    answer = api.post("/v1/imports/ndjson", content=chunks, headers=TYPE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(item) for item in answer.text.splitlines()]


def test_every_line_gets_its_answer_in_order(api: TestClient) -> None:
    files = [{"path": "a.sh", "mode": 0o755, "content_base64": "AAEC"}]
    bad = [b"{", b"", line("A"), line("c", surprise=1), line("d", files=[files[0] | {"content_base64": "?"}]), b"\xff"]
    found = sent(api, [line("a", files=files), *bad, line("b")], pieces=7)
    assert [item["line"] for item in found] == list(range(1, 9))
    assert (found[0]["skill"], found[0]["number"], found[7]["skill"]) == ("a", 1, "b")
    assert {item["error"]["status"] for item in found[1:7]} == {422}
    assert found[3]["error"]["errors"][0]["path"] == "/document/frontmatter/name"
    assert found[4]["error"]["errors"][0]["path"] == "/surprise"
    assert "content_base64" in found[5]["error"]["errors"][0]["path"]


def test_what_is_exported_is_what_was_imported(api: TestClient) -> None:
    lines = [line(f"s-{i}", "技能\t" * i, kind="skill", label="production", message="m", files=[]) for i in range(5)]
    sent(api, lines)
    answer = api.get("/v1/exports/ndjson")
    assert [json.loads(item) for item in answer.text.splitlines()] == lines
    assert api.get("/v1/exports/ndjson?prefix=s-3").text.count("\n") == 1


def test_a_line_above_the_limit_is_refused_and_keeps_no_other_back(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ndjson, "MAX_LINE_BYTES", 500)
    found = sent(api, [line("a"), line("b", "x" * 1000), line("c")], pieces=64)
    assert [item.get("skill") for item in found] == ["a", None, "c"]
    assert found[1]["error"]["code"] == "too_large"


def test_a_body_of_another_type_is_refused(api: TestClient) -> None:
    answer = api.post("/v1/imports/ndjson", json=line("a"))
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "/headers/Content-Type")


def test_nobody_imports_or_exports_without_a_key(api: TestClient) -> None:
    without = {"Authorization": ""}
    assert api.post("/v1/imports/ndjson", content=b"{}", headers=TYPE | without).status_code == 401
    assert api.get("/v1/exports/ndjson", headers=without).status_code == 401


def test_an_unknown_label_is_refused_before_the_stream_begins(api: TestClient) -> None:
    assert api.get("/v1/exports/ndjson?label=7").status_code == 422
