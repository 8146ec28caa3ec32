"""Many skills at once over HTTP and by the command line."""

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import skillhub_client
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from skillhub.cli import app, transfer
from tests.api.test_client import InProcess

DOCUMENT = "---\nname: {name}\ndescription: d\n---\r\nBody.\n"


def zipped(**entries: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return buffer.getvalue()


def send(api: TestClient, content: bytes, query: str = "", **headers: str) -> Any:
    return api.post(f"/v1/imports/zip{query}", content=content, headers={"Content-Type": "application/zip"} | headers)


def test_an_import_answers_for_each_folder_and_an_export_gives_it_back(api: TestClient) -> None:
    content = zipped(**{"b/SKILL.md": "nothing", "g/a/SKILL.md": DOCUMENT.format(name="a"), "g/a/x": "1"})
    bad, good = send(api, content, "?label=draft&kind=rule").json()["results"]
    assert (bad["folder"], bad["number"], bad["error"]["code"], bad["error"]["errors"][0]["line"]) == ("b", None, "invalid", 1)
    assert (good["folder"], good["skill"], good["number"], good["error"]) == ("g/a", "a", 1, None)
    assert api.get("/v1/skills/a").json()["kind"] == "rule"
    answer = api.get("/v1/exports/zip?name=a&label=draft")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as file:
        assert {name: file.read(name) for name in file.namelist()} == {
            "a/SKILL.md": DOCUMENT.format(name="a").encode(),
            "a/x": b"1",
        }
    assert api.get("/v1/exports/zip?name=nothing").status_code == 404
    assert zipfile.ZipFile(io.BytesIO(api.get("/v1/exports/zip").content)).namelist() == []


def test_the_same_import_twice_under_one_key_is_one(api: TestClient) -> None:
    content = zipped(**{"a/SKILL.md": DOCUMENT.format(name="a")})
    first, second = (send(api, content, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"
    assert send(api, content + b"x", **{"Idempotency-Key": "k"}).status_code == 422


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 422, "no zip"),
        (b"x" * 100, 422, "no zip"),
        (zipped(**{"a/SKILL.md": DOCUMENT.format(name="a"), "../evil.md": "x"}), 422, "../evil.md"),
        (zipped(**{"README.md": "x"}), 422, "no SKILL.md"),
        (zipped(**{"a/SKILL.md": DOCUMENT.format(name="a"), "a/big": "x" * 3_000_000}), 413, "a/big"),
    ],
)
def test_an_unsafe_zip_is_a_problem_that_names_the_entry(api: TestClient, content: bytes, status: int, words: str) -> None:
    answer = send(api, content)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]
    assert api.get("/v1/skills").json()["items"] == []


def test_a_version_takes_its_own_files(api: TestClient) -> None:
    api.post("/v1/skills", json={"name": "a", "document": DOCUMENT.format(name="a")}).raise_for_status()
    file = {"path": "run.sh", "mode": 0o755, "content_base64": base64.b64encode(b"x").decode()}
    body = {"document": DOCUMENT.format(name="a"), "files": [file], "label": "production"}
    assert api.post("/v1/skills/a/versions", json=body).json()["number"] == 2
    with zipfile.ZipFile(io.BytesIO(api.get("/v1/skills/a/export").content)) as exported:
        assert exported.getinfo("a/run.sh").external_attr >> 16 & 0o777 == 0o755
    body["files"] = [file | {"path": "../x"}]
    answer = api.post("/v1/skills/a/versions", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "/files/../x")


def test_a_credential_in_a_bundled_file_is_refused_with_its_line(api: TestClient) -> None:
    secret = base64.b64encode(b"one\napi_key: sk-live-4eC39HqLyjWDarjtT1zdp7dc\n").decode()
    body = {"name": "a", "document": DOCUMENT.format(name="a"), "files": [{"path": "x.md", "content_base64": secret}]}
    answer = api.post("/v1/skills", json=body)
    assert answer.status_code == 422
    assert {key: answer.json()["errors"][0][key] for key in ("path", "line")} == {"path": "/files/x.md", "line": 2}
    assert "4eC39Hq" not in answer.text


@pytest.fixture
def command(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command line against the application in this process."""
    key = api.headers["Authorization"].removeprefix("Bearer ")
    monkeypatch.setattr(
        transfer, "open_client", lambda *_: skillhub_client.Client("http://testserver", key, transport=InProcess(api))
    )
    return lambda *arguments: CliRunner().invoke(app, arguments)


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    paths = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o777) for path in paths}


def test_a_tree_is_imported_changed_imported_again_and_exported(command: Any, tmp_path: Path) -> None:
    root, out = tmp_path / "in", tmp_path / "out"
    for name in ("a", "b"):
        (root / name / "scripts").mkdir(parents=True)
        (root / name / "SKILL.md").write_bytes(DOCUMENT.format(name=name).encode())
        (root / name / "scripts" / "run.sh").write_bytes(b"#!/bin/sh\r\n")
        (root / name / "scripts" / "run.sh").chmod(0o755)
    assert command("import", str(root)).output.split() == ["a@1", "b@1"]
    (root / "b" / "scripts" / "run.sh").write_bytes(b"changed")
    assert command("import", str(root)).output.split() == ["a@1", "b@2"]
    assert command("export", "-o", str(out)).exit_code == 0
    assert tree(out) == tree(root)
    again = command("export", "a", "-o", str(out))
    assert (again.exit_code, "is there already" in again.output) == (1, True)
    assert command("export", "a", "b", "-o", str(tmp_path / "x.zip")).exit_code == 0
    assert command("import", str(tmp_path / "x.zip")).output.split() == ["a@1", "b@2"]


def test_skills_go_out_and_in_as_lines(command: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(DOCUMENT.format(name=name))
    file = tmp_path / "all.ndjson"
    assert command("import", str(tmp_path)).exit_code == 0
    assert command("export", "-o", str(file)).output == f"{file}: 2 skills\n"
    changed = file.read_text().replace("Body.", "More.", 1) + json.dumps({"name": "c", "document": "no"}) + "\n"
    file.write_text(changed)
    done = command("import", str(file))
    assert (done.exit_code, done.stdout.split()) == (1, ["a@2", "b@1"])
    assert "line 3" in done.stderr
    file.write_text(changed + "nonsense\n")
    assert "line 4 is not a JSON object" in command("import", str(file)).output
    assert "name none" in command("export", "a", "-o", str(file)).output


def test_a_folder_that_may_not_be_sent_keeps_no_other_back(command: Any, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(DOCUMENT.format(name=name if name != "c" else "other"))
    (tmp_path / "a" / "link").symlink_to("/etc/passwd")
    done = command("import", str(tmp_path))
    assert (done.exit_code, done.stdout.split()) == (1, ["b@1"])
    assert "symbolic link" in done.stderr and "must be that of its folder" in done.stderr


def test_verdicts_are_printed_with_their_lines(tmp_path: Path) -> None:
    for name, text in (("a", DOCUMENT), ("b", "---\nname: b\ndescription: d\nextra: 1\n---\n<!-- x -->\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text.format(name=name))
    one = CliRunner().invoke(app, ["validate", str(tmp_path / "b" / "SKILL.md"), "--json"])
    printed = json.loads(one.stdout)
    assert (one.exit_code, printed["valid"], printed["errors"][0]["line"]) == (1, False, 4)
    many = CliRunner().invoke(app, ["validate", str(tmp_path), "--json"])
    assert [skill["valid"] for skill in json.loads(many.stdout)["skills"]] == [True, False]
    plain = CliRunner().invoke(app, ["validate", str(tmp_path / "a")])
    assert (plain.exit_code, plain.stdout) == (0, f"{tmp_path / 'a'}: valid\n")
    (tmp_path / "x.zip").write_bytes(zipped(**{"a/SKILL.md": DOCUMENT.format(name="a"), "a/x.md": "ig\u200bnore"}))
    zip_verdict = json.loads(CliRunner().invoke(app, ["validate", str(tmp_path / "x.zip"), "--json"]).stdout)
    assert (zip_verdict["valid"], zip_verdict["warnings"][0]["path"]) == (True, "/files/x.md")
    assert CliRunner().invoke(app, ["validate", str(tmp_path / "nothing")]).exit_code == 1
