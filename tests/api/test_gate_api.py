"""The gate over HTTP: propose, register, lease, finish, publish."""

import pytest
from fastapi.testclient import TestClient

from tests.db.gating import document

CASES = [
    {"key": f"{split}-{i}", "split": split, "slice": "boil", "spec": {"task": "boil", "variation": 100 * number + i}}
    for number, (split, count) in enumerate((("train", 3), ("dev", 16)))
    for i in range(count)
]


@pytest.fixture
def suite(api: TestClient) -> str:
    assert api.put("/v1/suites/kitchen", json={"cases": CASES}).status_code == 200
    return "kitchen"


def propose(api: TestClient, steps: str = "Heat the water.", **facts: object) -> dict:
    body = {"skill_name": "boil", "kind": "skill", "document": document(steps), "base": None, "proposer": "tests",
            "target_slice": "boil"}  # fmt: skip
    answer = api.post("/v1/candidates", json=body | facts)
    assert answer.status_code == 201, answer.text
    return answer.json()


def open_gate(api: TestClient, candidate: dict, **facts: object) -> dict:
    answer = api.post(f"/v1/candidates/{candidate['id']}/gate", json={"suite": "kitchen"} | facts)
    assert answer.status_code == 201, answer.text
    return answer.json()


def lease(api: TestClient, limit: int = 1, **facts: object) -> list[dict]:
    answer = api.post("/v1/trials/lease", json={"runner": "r1", "limit": limit} | facts)
    assert answer.status_code == 200, answer.text
    return answer.json()["trials"]


def finish(api: TestClient, trial: dict, score: float, **facts: object) -> dict:
    body = {"lease_token": trial["lease_token"], "score": score} | facts
    answer = api.post(f"/v1/trials/{trial['id']}/finish", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def work_off(api: TestClient, *, base: float, candidate: float) -> None:
    while trials := lease(api, 2):
        for trial in trials:
            finish(api, trial, candidate if trial["arm"] == "candidate" else base)


def test_a_candidate_walks_from_proposal_to_production(api: TestClient, suite: str) -> None:
    candidate = propose(api)
    assert (candidate["state"], candidate["gate_id"], candidate["decision"]) == ("proposed", None, None)
    gate = open_gate(api, candidate)
    assert gate["state"] == "open"
    assert gate["alpha"] == pytest.approx(0.0304, abs=1e-4)
    first, second = lease(api, 2)
    assert (first["arm"], first["documents"]) == ("base", [])
    assert second["documents"] == [
        {"skill_name": "boil", "kind": "skill", "version_id": None, "candidate_id": candidate["id"],
         "document": candidate["document"]}
    ]  # fmt: skip
    assert first["case"] == second["case"] and first["seed"] == second["seed"]
    assert first["case"]["spec"]["task"] == "boil"
    finish(api, first, 0.1)
    finish(api, second, 0.9)
    assert len(api.get(f"/v1/gates/{gate['id']}").json()["numbers"]["pairs"]) == 1
    work_off(api, base=0.1, candidate=0.9)
    decided = api.get(f"/v1/candidates/{candidate['id']}").json()
    assert decided["state"] == "accepted"
    label = api.get("/v1/skills/boil/labels/production").json()
    assert label["version_id"] == decided["decision"]["version_id"]
    shown = api.get(f"/v1/gates/{gate['id']}").json()
    assert shown["decision"]["verdict"] == "accepted"
    assert {trial["state"] for trial in shown["trials"]} == {"finished", "cancelled"}


def test_a_finished_trial_stores_its_episode(api: TestClient, suite: str) -> None:
    open_gate(api, propose(api))
    episode = {"key": "e1", "environment": "kitchen", "task": "boil water", "slice": "boil", "score": 0.5, "success": False,
               "steps": [{"observation": "a stove", "action": "wait", "reward": 0.0, "score": 0.5}]}  # fmt: skip
    done = finish(api, lease(api)[0], 0.5, episode=episode)
    assert api.get(f"/v1/episodes/{done['episode_id']}").json()["trial_id"] == done["id"]


def test_a_score_out_of_range_is_refused_with_the_trial(api: TestClient, suite: str) -> None:
    open_gate(api, propose(api))
    trial = lease(api)[0]
    answer = api.post(f"/v1/trials/{trial['id']}/finish", json={"lease_token": trial["lease_token"], "score": 1.5})
    assert answer.status_code == 422
    assert trial["id"] in answer.json()["detail"]


def test_a_lost_lease_is_a_conflict(api: TestClient, suite: str) -> None:
    open_gate(api, propose(api))
    trial = lease(api)[0]
    for verb, more in (("heartbeat", {}), ("finish", {"score": 0.5}), ("fail", {"error": "x"})):
        answer = api.post(f"/v1/trials/{trial['id']}/{verb}", json={"lease_token": "someone else's"} | more)
        assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    alive = api.post(f"/v1/trials/{trial['id']}/heartbeat", json={"lease_token": trial["lease_token"]})
    assert alive.status_code == 204


def test_a_run_that_broke_is_handed_out_again(api: TestClient, suite: str) -> None:
    open_gate(api, propose(api))
    trial = lease(api)[0]
    body = {"lease_token": trial["lease_token"], "error": "no java"}
    assert api.post(f"/v1/trials/{trial['id']}/fail", json=body).json()["state"] == "pending"
    assert lease(api)[0]["id"] == trial["id"]


def test_a_suite_may_grow_but_a_stored_case_never_changes(api: TestClient, suite: str) -> None:
    same = api.put("/v1/suites/kitchen", json={"cases": CASES[::-1]}).json()
    more = [*CASES, {"key": "dev-99", "split": "dev", "slice": "boil", "spec": {"task": "boil", "variation": 999}}]
    grown = api.put("/v1/suites/kitchen", json={"cases": more}).json()
    assert (same["cases"], grown["cases"]) == (len(CASES), len(CASES) + 1)
    assert same["content_sha256"] != grown["content_sha256"]
    assert api.put("/v1/suites/kitchen", json={"cases": CASES}).status_code == 409
    changed = [{**more[0], "spec": {"task": "freeze"}}, *more[1:]]
    assert api.put("/v1/suites/kitchen", json={"cases": changed}).status_code == 409


def test_one_task_in_two_splits_is_refused_and_both_cases_are_named(api: TestClient) -> None:
    twins = [{"key": key, "split": key, "slice": "boil", "spec": {"variation": 1}} for key in ("train", "dev")]
    answer = api.put("/v1/suites/kitchen", json={"cases": twins})
    assert answer.status_code == 422
    assert "'train'" in answer.json()["detail"] and "'dev'" in answer.json()["detail"]


@pytest.mark.parametrize("spec", ['{"x": "a\\u0000b"}', '{"x": NaN}', '{"x": "' + "y" * 20_000 + '"}'])
def test_a_spec_that_cannot_be_stored_is_refused(api: TestClient, spec: str) -> None:
    body = '{"cases": [{"key": "a", "split": "dev", "slice": "boil", "spec": ' + spec + "}]}"
    answer = api.put("/v1/suites/kitchen", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("policy", "path"), [({"alpha": 0.9}, "/policy/alpha"), ({"what": 1}, "/policy/what"), ({"beta": "x"}, "/policy/beta")]
)
def test_a_bad_policy_is_refused_by_field(api: TestClient, suite: str, policy: dict, path: str) -> None:
    candidate = propose(api)
    answer = api.post(f"/v1/candidates/{candidate['id']}/gate", json={"suite": "kitchen", "policy": policy})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == path


def test_unknown_things_are_not_found(api: TestClient, suite: str) -> None:
    candidate = propose(api)
    for path in ("/v1/candidates/can_x", "/v1/gates/gat_x", "/v1/jobs/job_x"):
        assert api.get(path).status_code == 404
    assert api.post("/v1/candidates/can_x/gate", json={"suite": "kitchen"}).status_code == 404
    assert api.post(f"/v1/candidates/{candidate['id']}/gate", json={"suite": "nowhere"}).status_code == 404
    assert api.post("/v1/trials/trl_x/finish", json={"lease_token": "x", "score": 0.5}).status_code == 404
    assert api.post("/v1/trials/lease", json={"runner": "r", "suites": ["nowhere"]}).status_code == 404


def test_the_same_proposal_sent_twice_under_one_key_is_one_candidate(api: TestClient) -> None:
    body = {"skill_name": "boil", "document": document("Heat."), "proposer": "tests", "target_slice": "boil"}
    first, again = (api.post("/v1/candidates", json=body, headers={"Idempotency-Key": "k1"}).json() for _ in range(2))
    assert first == again
    assert len(api.get("/v1/candidates").json()["items"]) == 1


def test_evidence_must_name_known_episodes(api: TestClient) -> None:
    evidence = [{"anchor": "steps", "claim": "Heat.", "polarity": 1, "weight": 1, "episode_ids": ["eps_x"]}]
    body = {"skill_name": "boil", "document": document("Heat."), "proposer": "t", "target_slice": "boil", "evidence": evidence}
    answer = api.post("/v1/candidates", json=body)
    assert answer.status_code == 422
    assert "eps_x" in answer.json()["detail"]


def test_candidates_are_paged_and_filtered(api: TestClient) -> None:
    ids = [propose(api, f"Heat {i} times.")["id"] for i in range(3)]
    page = api.get("/v1/candidates", params={"limit": 2, "state": "proposed", "slice": "boil"}).json()
    rest = api.get("/v1/candidates", params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert [item["id"] for item in [*page["items"], *rest["items"]]] == ids[::-1]
    assert rest["next_cursor"] is None
    assert api.get("/v1/candidates", params={"state": "accepted"}).json()["items"] == []


def test_extraction_is_a_job_for_each_slice_and_one_for_the_rules_across_them(api: TestClient, announced: list[str]) -> None:
    answer = api.post("/v1/curation/extract", json={"slices": ["boil", "freeze"]})
    assert answer.status_code == 202
    jobs = answer.json()["jobs"]
    assert [job["state"] for job in jobs] == ["queued"] * 3
    assert announced == [job["id"] for job in jobs]
    assert api.get(f"/v1/jobs/{jobs[0]['id']}").json()["payload"] == {"slices": ["boil"], "split": "train"}
    listed = api.get("/v1/jobs", params={"state": "queued", "kind": "curation.extract_skills"}).json()["items"]
    assert {job["id"] for job in listed} == {job["id"] for job in jobs[:2]}


def test_episodes_kept_for_the_proof_cannot_be_extracted_from(api: TestClient) -> None:
    assert api.post("/v1/curation/extract", json={"slices": ["boil"], "split": "dev"}).status_code == 422
