from fastapi.testclient import TestClient


def test_health_and_readiness_need_no_key(api: TestClient) -> None:
    del api.headers["Authorization"]
    assert api.get("/healthz").json() == {"status": "ok"}
    assert api.get("/readyz").json() == {"status": "ready"}


def test_an_unknown_path_is_a_problem_document(api: TestClient) -> None:
    answer = api.get("/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
