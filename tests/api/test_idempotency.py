"""A POST that is sent again under its key does nothing twice, however the first one ended."""

import json
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlmodel import select

from skillhub.config import Settings
from skillhub.errors import InFlight, Invalid
from skillhub.models import IdempotencyRecord
from skillhub.services import idempotency
from skillhub.services.idempotency import KEPT, once
from skillhub.services.scope import Scope
from tests.api.conftest import Served
from tests.db.gating import document
from workers.sweeper import sweep_once

SKILL = {"name": "boil", "document": document("One.")}


def age(scope: Scope, by: timedelta) -> None:
    """Make every kept answer older."""
    with scope.database.system_transaction() as session:
        session.execute(text("UPDATE idempotency_record SET created_at = created_at - :by"), {"by": by})


def test_the_same_request_gets_the_first_answer_and_another_is_refused(api: TestClient) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = api.post("/v1/skills", json=SKILL, headers=headers)
    api.post("/v1/skills/boil/versions", json={"document": document("Two.")})
    again = api.post("/v1/skills", json=SKILL, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    other = api.post("/v1/skills", json=SKILL | {"message": "x"}, headers=headers)
    assert (other.status_code, other.json()["errors"][0]["path"]) == (422, "/headers/Idempotency-Key")


def test_a_refused_request_leaves_its_key_free(api: TestClient) -> None:
    headers, edit = {"Idempotency-Key": "k"}, {"document": document("Two.")}
    assert api.post("/v1/skills/boil/versions", json=edit, headers=headers).status_code == 404
    api.post("/v1/skills", json=SKILL)
    assert api.post("/v1/skills/boil/versions", json=edit, headers=headers).status_code == 201


def test_a_request_under_way_does_not_keep_a_second_one_waiting(scope: Scope) -> None:
    """The second comes while the first is inside its use case; with a lock that waits, both would stand still for ever."""

    def first(joined: Scope) -> dict:
        with pytest.raises(InFlight) as refused:
            once(scope, key="k", request_sha256="a", status=201, use_case=lambda other: {"n": 2})
        assert (refused.value.status, refused.value.retry_after_seconds) == (409, 1)
        return {"n": 1}

    assert once(scope, key="k", request_sha256="a", status=201, use_case=first) == ({"n": 1}, False)
    assert once(scope, key="k", request_sha256="a", status=201, use_case=first) == ({"n": 1}, True)


def test_a_key_of_one_workspace_means_nothing_in_another(scope: Scope) -> None:
    from dataclasses import replace

    from skillhub.models import Workspace

    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    for each, n in ((scope, 1), (replace(scope, workspace_id="wsp_other"), 2)):
        assert once(each, key="k", request_sha256="a", status=200, use_case=lambda _, n=n: {"n": n}) == ({"n": n}, False)


def test_an_answer_counts_for_a_day_and_is_then_as_if_never_given(scope: Scope) -> None:
    def ask(n: int, sha256: str = "a") -> tuple[dict, bool]:
        return once(scope, key="k", request_sha256=sha256, status=200, use_case=lambda _: {"n": n})

    ask(1)
    age(scope, KEPT - timedelta(minutes=1))
    assert ask(2) == ({"n": 1}, True)
    age(scope, timedelta(minutes=2))
    assert ask(3, "another request") == ({"n": 3}, False)
    assert ask(4, "another request") == ({"n": 3}, True)
    with pytest.raises(Invalid):
        ask(5)


def test_the_sweeper_forgets_what_no_longer_counts(scope: Scope) -> None:
    for key in ("old", "new"):
        once(scope, key=key, request_sha256="a", status=200, use_case=lambda _: {})
        age(scope, KEPT - timedelta(hours=1))
    age(scope, timedelta(hours=-22))
    sweep_once(scope.database, lambda job_id: None, Settings())
    with scope.database.system_transaction() as session:
        assert session.exec(select(IdempotencyRecord.key)).all() == ["new"]
    assert idempotency.purge(scope.database) == 0


def test_parallel_requests_take_effect_once(served: Served) -> None:
    with httpx.Client(base_url=served.url, headers=served.headers, timeout=30) as http, ThreadPoolExecutor(8) as pool:
        headers = {"Idempotency-Key": "k"}
        answers = list(pool.map(lambda _: http.post("/v1/skills", json=SKILL, headers=headers), range(16)))
        again = http.post("/v1/skills", json=SKILL, headers=headers)
        events = Counter(event["kind"] for event in http.get("/v1/events").json()["items"])
    assert {answer.status_code for answer in answers} <= {201, 409}
    for answer in answers:
        if answer.status_code == 409:
            assert (answer.json()["code"], answer.headers["Retry-After"]) == ("in_flight", "1")
        else:
            assert answer.json() == again.json()
    assert events["version.published"] == 1


def test_a_caller_that_hung_up_and_asks_again_has_done_it_once(served: Served) -> None:
    """Some hang up before, some after the server has taken the request; nobody waits for an answer."""
    body = json.dumps(SKILL).encode()
    head = (
        f"POST /v1/skills HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.key}\r\nIdempotency-Key: k\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()

    def hang_up(index: int) -> None:
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall((head + body)[: len(head) + len(body) * (index + 1) // 8])

    threads = [threading.Thread(target=hang_up, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    from skillhub_client import Client

    with Client(served.url, served.key) as client, httpx.Client(base_url=served.url, headers=served.headers) as http:
        headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
        statuses = {http.post("/v1/skills", content=body, headers=headers).status_code for _ in range(3)}
        assert statuses <= {201, 409}
        assert client.create_skill(**SKILL).latest_version.number == 1
        kinds = Counter(event.kind for event in client.events())
    assert kinds["version.published"] == kinds["skill.created"] == 1


def test_a_database_that_hangs_up_in_the_middle_leaves_the_key_free(scope: Scope, served: Served) -> None:
    def cut(joined: Scope) -> dict:
        with joined.transaction() as unit:
            unit.record("skill.created", "skl_x")
            mine = unit.session.execute(text("SELECT pg_backend_pid()")).scalar_one()
            with scope.database.engine.begin() as owner:
                owner.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": mine})
            unit.record("skill.created", "skl_y")
        return {}

    with pytest.raises(Exception, match="terminat"):
        once(scope, key="k", request_sha256="a", status=200, use_case=cut)
    assert once(scope, key="k", request_sha256="a", status=200, use_case=lambda _: {"n": 2}) == ({"n": 2}, False)
    with scope.transaction() as unit:
        assert unit.session.execute(text("SELECT count(*) FROM event WHERE subject_id LIKE 'skl_%'")).scalar_one() == 0
