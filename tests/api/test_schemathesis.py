"""Whatever a machine thinks of sending, alone or as one step of many, the answer is one that the OpenAPI document names.

New routes are taken in by themselves. 422 is an answer to valid data as well: a document has rules that no JSON schema can say.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import psycopg
import pytest
import schemathesis
from fastapi.testclient import TestClient
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema

from api.app import create_app
from skillhub.config import Settings
from skillhub.models import Workspace
from skillhub.services import keys
from skillhub.services.scope import Scope
from skillhub.store.session import Database
from tests.api.conftest import SECRET
from tests.api.test_contract import OPERATIONS
from tests.conftest import TEMPLATE

EXAMPLES = 4
ANSWERS = ["2xx", "304", "401", "403", "404", "409", "412", "413", "422", "429", "503"]
CHECKS = {
    "positive_data_acceptance": {"expected-statuses": ANSWERS},
    "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "503"]},
}
OWN_KEY = ["POST /v1/keys/{key_id}/rotate", "DELETE /v1/keys/{key_id}"]
"""A machine that has found its own key ends the test with them; they are tested by hand."""
LINES = {"include-name": "POST /v1/imports/ndjson", "checks": {"negative_data_rejection": {"enabled": False}}}
"""What is wrong with a line is said in the answer to that line."""


@dataclass
class Found:
    """What a run of the engine covered, and what it holds against us."""

    operations: set[str] = field(default_factory=set)
    cases: int = 0
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    phases: Counter = field(default_factory=Counter)

    def take(self, event: events.ScenarioFinished) -> None:
        for case_id, checks in event.recorder.checks.items():
            label = event.recorder.cases[case_id].value.operation.label
            self.operations.add(label)
            self.cases += 1
            self.phases[event.phase.value] += 1
            for check in checks:
                if check.status is Status.FAILURE:
                    said = check.failure_info.failure.message
                    self.failures.setdefault((check.name, label), f"{said}\n{check.failure_info.code_sample}")


@schemathesis.serializer("application/x-ndjson", "application/zip")
def as_bytes(context: schemathesis.SerializationContext, value: object) -> bytes:
    """A body that is no JSON, as it is."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook("before_call")
def without_fields(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict) -> None:
    """`fields` takes parts of an answer away, which no schema of the whole answer allows; it has tests of its own."""
    if case.query:
        case.query.pop("fields", None)


@pytest.fixture(scope="module")
def hub(postgres: str) -> Iterator[TestClient]:
    """One application for all cases; what they store is part of the test."""
    name = "test_schemathesis"
    with psycopg.connect(postgres.format(name="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    url = postgres.format(name=name)
    database = Database(url)
    with database.system_transaction() as session:
        session.add(Workspace(id="wsp_test", name="test"))
    key = keys.create_key(Scope(database, "wsp_test", "tester"), name="tests", secret=SECRET)
    app = create_app(Settings(database_url=url, secret=SECRET, search_wait_seconds=0.1), announce=lambda job_id: None)
    with TestClient(app) as client:
        client.key = key
        yield client
    database.dispose()


def run(hub: TestClient) -> Found:
    config = SchemathesisConfig.from_dict(
        {
            "seed": 20261201, "headers": {"Authorization": f"Bearer {hub.key}"}, "continue-on-failure": True, "checks": CHECKS,
            "generation": {"max-examples": EXAMPLES, "deterministic": True, "database": "none"},
            "operations": [*({"include-name": name, "enabled": False} for name in OWN_KEY), LINES],
        }
    )  # fmt: skip
    found = Found()
    for event in from_schema(schemathesis.openapi.from_asgi("/openapi.json", hub.app, config=config)).execute():
        assert not isinstance(event, events.FatalError | events.NonFatalError), event
        if isinstance(event, events.ScenarioFinished):
            found.take(event)
    return found


def test_every_answer_is_one_that_is_documented(hub: TestClient) -> None:
    found = run(hub)
    print(f"\n{len(found.operations)} operations, {found.cases} cases {dict(found.phases)}, {len(found.failures)} failures")
    said = "\n".join(f"{check}: {operation}: {why}" for (check, operation), why in sorted(found.failures.items()))
    assert not found.failures, said
    known = {f"{method.upper()} {path}" for path, method, _ in OPERATIONS}
    assert known - set(OWN_KEY) <= found.operations
    assert found.phases["stateful"] > 0
