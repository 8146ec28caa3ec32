"""What an operator sees: numbers for Prometheus, and log lines without credentials."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from api import requests
from api.app import create_app
from skillhub import logs
from skillhub.config import Settings
from skillhub.services import curation, keys
from skillhub.services.scope import Scope
from tests.api.conftest import SECRET
from tests.api.test_search_api import document

TOKEN = "a-token-of-the-operator"
HOSTILE = "sk-live-4f9A8b7C6d5E4f3A2b1C"


@pytest.fixture
def watched(scope: Scope, database_url: str) -> Iterator[TestClient]:
    key = keys.create_key(scope, name="tests", secret=SECRET)
    app = create_app(Settings(database_url=database_url, secret=SECRET, metrics_token=TOKEN), announce=lambda job_id: None)
    with TestClient(app, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False) as client:
        yield client


def scraped(client: TestClient) -> dict[tuple[str, ...], float]:
    """Name and sorted label values -> value."""
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.text)
    samples = (sample for family in families for sample in family.samples)
    return {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}


def test_requests_are_counted_by_route_and_status(watched: TestClient) -> None:
    for name in ("boil-water", "nothing"):
        watched.get(f"/v1/skills/{name}")
    found = scraped(watched)
    assert found["skillhub_requests_total", "/v1/skills/{name}", "404", "GET"] == 2
    assert found["skillhub_request_seconds_count", "/v1/skills/{name}", "GET"] == 2


def test_what_waits_is_counted_and_no_tenant_is_named(watched: TestClient, scope: Scope) -> None:
    curation.request_extraction(scope, slices=["boil", "freeze"], split="train")
    found = scraped(watched)
    assert found["skillhub_jobs", "curation.extract_skills", "queued"] == 2
    assert found["skillhub_oldest_waiting_job_seconds",] > 0
    assert not [key for key in found if scope.workspace_id in key or "test" in key]


def test_the_lag_of_the_index_is_what_it_has_not_seen(watched: TestClient) -> None:
    watched.app.state.reader.stop()
    body = {"name": "boil-water", "document": document("boil-water", "Boil water.")}
    assert watched.post("/v1/skills", json=body).status_code == 201
    assert scraped(watched)["skillhub_index_lag_events",] >= 4
    watched.post("/v1/search", json={"query": "boil"})
    found = scraped(watched)
    assert (found["skillhub_index_lag_events",], found["skillhub_index_versions",]) == (0, 1)


def test_no_key_of_a_workspace_opens_the_numbers(watched: TestClient, api: TestClient) -> None:
    assert watched.get("/metrics").status_code == 401
    assert api.get("/metrics").status_code == 404


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the log says in JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter(requests.fields))
    logger = logging.getLogger("skillhub")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_a_request_is_one_line_with_its_id_and_who_called(watched: TestClient, lines: io.StringIO) -> None:
    watched.get("/v1/skills", headers={"X-Request-ID": "mine-1"})
    watched.get("/healthz")
    [line] = [json.loads(text) for text in lines.getvalue().splitlines() if "skillhub.access" in text]
    assert (line["route"], line["status"], line["request_id"]) == ("/v1/skills", 200, "mine-1")
    assert (line["workspace_id"], line["actor"][:4], line["level"]) == ("wsp_test", "key_", "INFO")


def test_no_credential_reaches_the_log(watched: TestClient, lines: io.StringIO) -> None:
    key = watched.headers["Authorization"].removeprefix("Bearer ")
    watched.post("/v1/search", json={"query": f"api_key: {HOSTILE}"})
    watched.get(f"/v1/skills/{HOSTILE}")
    watched.post("/v1/skills", json={"name": HOSTILE, "document": f"token: {HOSTILE}"})
    log = logging.getLogger("skillhub.test")
    log.error("could not connect to postgresql://me:%s@host/db", HOSTILE)
    try:
        raise RuntimeError(f"Authorization: Bearer {key}")
    except RuntimeError:
        log.exception("failed")
    written = lines.getvalue()
    assert written.count("\n") >= 5
    assert HOSTILE not in written
    assert key not in written
