import sqlalchemy as sa
from fastapi.testclient import TestClient

from skillhub.services.scope import Scope


def test_health_and_readiness_need_no_key(api: TestClient) -> None:
    del api.headers["Authorization"]
    assert api.get("/healthz").json() == {"status": "ok"}
    assert api.get("/readyz").json() == {"status": "ready"}


def test_an_unknown_path_is_a_problem_document(api: TestClient) -> None:
    answer = api.get("/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_database_that_could_lose_writes_is_not_ready(api: TestClient, scope: Scope) -> None:
    with scope.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as owner:
        name = owner.execute(sa.text("SELECT current_database()")).scalar_one()
        owner.execute(sa.text(f"ALTER DATABASE {name} SET synchronous_commit TO off"))
    api.app.state.database.dispose()
    answer = api.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "not_durable")
    assert "synchronous_commit=off" in answer.json()["detail"]
