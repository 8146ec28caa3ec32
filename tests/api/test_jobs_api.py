"""Jobs and schedules by HTTP and by the SDK."""

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from skillhub_client import Client, errors

from skillhub.services.scope import Scope
from tests.api.test_client import InProcess

EXTRACT = {"slices": ["boil"], "split": "train"}
NIGHTLY = {"kind": "curation.extract_skills", "payload": EXTRACT, "cron": "0 3 * * *"}


@pytest.fixture
def client(api: TestClient) -> Client:
    key = api.headers["Authorization"].removeprefix("Bearer ")
    return Client("http://testserver", key, transport=InProcess(api))


@pytest.fixture
def job(client: Client) -> str:
    return client.extract(["boil"]).jobs[0].id


def test_a_job_is_cancelled_and_started_over(client: Client, job: str, announced: list[str]) -> None:
    assert client.cancel_job(job).state == client.cancel_job(job).state == "cancelled"
    assert client.wait_for_job(job).state == "cancelled"
    assert client.retry_job(job).state == "queued"
    assert announced == [job, job]
    with pytest.raises(errors.Conflict):
        client.retry_job(job)


def test_dead_letters_are_listed_with_input_and_error_and_started_over_together(
    client: Client, job: str, scope: Scope
) -> None:
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE job SET state = 'dead', error = 'boom', attempt = 3, finished_at = now()"))
    (dead,) = client.list_jobs(state="dead").items
    assert (dead.id, dead.error, dead.payload) == (job, "boom", EXTRACT)
    (retried,) = client.retry_jobs([job]).jobs
    assert (retried.state, retried.error, retried.attempt) == ("queued", None, 3)
    assert client.list_jobs(state="dead").items == []


def test_a_retry_whose_answer_was_lost_is_answered_again(api: TestClient, client: Client, job: str) -> None:
    client.cancel_job(job)
    answers = [api.post(f"/v1/jobs/{job}/retry", headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].headers["Idempotency-Replayed"] == "true"


def test_what_is_not_there_is_404_and_what_is_wrong_has_a_path(api: TestClient) -> None:
    for method, path in (("post", "/v1/jobs/job_x/cancel"), ("post", "/v1/jobs/job_x/retry"), ("get", "/v1/schedules/x")):
        assert api.request(method, path).status_code == 404
    assert api.post("/v1/jobs/retry", json={"ids": []}).json()["errors"][0]["path"] == "/body/ids"
    assert api.delete("/v1/schedules/x").status_code == 404
    for body, path in (
        (NIGHTLY | {"cron": "61 * * * *"}, "/body/cron"),
        (NIGHTLY | {"kind": "gate.decide"}, "/body/kind"),
        (NIGHTLY | {"payload": {"slices": []}}, "/body/payload/slices"),
        (NIGHTLY | {"cron": None, "every_seconds": 1}, "/body/every_seconds"),
    ):
        refused = api.put("/v1/schedules/nightly", json=body)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, path)
    assert api.put("/v1/schedules/No%20Name", json=NIGHTLY).json()["errors"][0]["path"] == "/path/name"


def test_a_schedule_goes_through_its_life(client: Client) -> None:
    made = client.put_schedule("nightly", **NIGHTLY)
    assert (made.cron, made.enabled, made.next_run_at.hour, made.next_run_at.minute) == ("0 3 * * *", True, 3, 0)
    hourly = client.put_schedule("nightly", kind="curation.extract_skills", payload=EXTRACT, every_seconds=3600)
    assert (hourly.id, hourly.cron, hourly.every_seconds) == (made.id, None, 3600)
    assert [one.name for one in client.list_schedules().items] == ["nightly"]
    client.delete_schedule("nightly")
    with pytest.raises(errors.NotFound):
        client.get_schedule("nightly")
