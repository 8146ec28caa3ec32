"""Whatever a machine thinks of sending, the answer is one that the OpenAPI document names. New routes are taken in.

422 is an answer to valid data as well: a document has rules that no JSON schema can say, and `keep` refuses with a path.
"""

from collections.abc import Iterator

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings

from api.app import create_app
from skillhub.config import Settings
from skillhub.models import Workspace
from skillhub.services import keys
from skillhub.services.scope import Scope
from skillhub.store.session import Database
from tests.api.conftest import SECRET
from tests.api.test_contract import OPERATIONS

ANSWERS = ["2xx", "304", "401", "403", "404", "409", "412", "413", "422", "429", "503"]
CHECKS = {
    "positive_data_acceptance": {"expected-statuses": ANSWERS},
    "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "503"]},
}
CONFIG = schemathesis.Config.from_dict({"seed": 20261201, "checks": CHECKS})
BOUNDED = settings(
    max_examples=6, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def hub(postgres: str) -> Iterator[TestClient]:
    """One application for all cases; what they store is part of the test."""
    import psycopg

    from tests.conftest import TEMPLATE

    name = "test_schemathesis"
    with psycopg.connect(postgres.format(name="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    url = postgres.format(name=name)
    database = Database(url)
    with database.system_transaction() as session:
        session.add(Workspace(id="wsp_test", name="test"))
    key = keys.create_key(Scope(database, "wsp_test", "tester"), name="tests", secret=SECRET)
    app = create_app(Settings(database_url=url, secret=SECRET, search_wait_seconds=0.1), announce=lambda job_id: None)
    with TestClient(app, headers={"Authorization": f"Bearer {key}"}) as client:
        client.key = key
        yield client
    database.dispose()


@pytest.fixture(scope="module")
def described(hub: TestClient) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_asgi("/openapi.json", hub.app, config=CONFIG)


@pytest.mark.parametrize(("path", "method"), [(path, method) for path, method, _ in OPERATIONS])
def test_every_answer_is_one_that_is_documented(
    hub: TestClient, described: schemathesis.BaseSchema, path: str, method: str
) -> None:
    for mode in schemathesis.GenerationMode:

        @BOUNDED
        @given(case=described[path][method].as_strategy(generation_mode=mode))
        def holds(case: schemathesis.Case) -> None:
            case.call_and_validate(headers={"Authorization": f"Bearer {hub.key}"}, timeout=60)

        holds()
