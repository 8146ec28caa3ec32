"""The client against the real application: every method meets the route it was made for."""

import asyncio
import inspect
import io
import re
import zipfile
from typing import Any

import httpx
import pytest
import skillhub_client
from fastapi.testclient import TestClient
from skillhub_client import AsyncClient, CaseIn, Client, EpisodeIn, StepIn, TrialLease, TrialResult, bulk, errors, every
from skillhub_client.endpoints import access, branches, catalog, episodes, gate, jobs, optimise, webhooks
from skillhub_client.evaluate import run_trials

BOIL = """---
name: boil-water
description: How to boil water on the stove.
---

# Boil water

1. Put the pot on the stove.
2. Turn on the stove.
"""


class InProcess(httpx.BaseTransport):
    """Hands the client's requests to the application without a network."""

    def __init__(self, api: TestClient) -> None:
        self._api = api

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        answer = self._api.request(request.method, path, content=request.read(), headers=dict(request.headers))
        return httpx.Response(answer.status_code, headers=dict(answer.headers), content=answer.content)


@pytest.fixture
def key(api: TestClient) -> str:
    return api.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def client(api: TestClient, key: str) -> Client:
    return Client("http://testserver", key, transport=InProcess(api))


def played(name: str, **more: Any) -> EpisodeIn:
    fields = {"environment": "kitchen", "task": "boil water", "slice": "boil", "split": "train", "score": 1.0, "success": True}
    return EpisodeIn(key=name, steps=[StepIn(observation="a pot", action="use stove", score=1.0)], **fields, **more)


def test_every_route_has_a_method(api: TestClient) -> None:
    """A route that no endpoint of the client reaches is a hole in the SDK."""
    calls = {(call.method, call.path) for call in map(_sample, _endpoints())} | {("POST", bulk.IMPORT), ("GET", bulk.EXPORT)}
    paths = api.app.openapi()["paths"].items()
    routes = {(method.upper(), path) for path, methods in paths for method in methods if path.startswith("/v1/")}
    assert routes
    assert {route for route in routes if not any(_meets(call, route) for call in calls)} == set()


def test_every_endpoint_is_a_method_of_both_clients() -> None:
    names = [function.__name__ for function in _endpoints()]
    assert all(hasattr(Client, name) and hasattr(AsyncClient, name) for name in names)


def test_skills_go_in_and_out_as_streams(client: Client) -> None:
    lines = [{"name": "boil-water", "document": BOIL}, {"name": "B", "document": BOIL}]
    good, bad = client.import_ndjson(lines)
    assert (good["skill"], good["number"], bad["error"]["status"]) == ("boil-water", 1, 422)
    assert [line["document"] for line in client.export_ndjson(prefix="boil")] == [BOIL]
    with pytest.raises(errors.Invalid):
        list(client.export_ndjson(label="7"))


def test_a_skill_goes_through_its_life(client: Client) -> None:
    created = client.create_skill("boil-water", BOIL, message="first")
    assert created.labels == {"production": 1, "latest": 1}
    second = client.publish_version("boil-water", BOIL + "3. Wait.\n", message="wait")
    assert (second.number, second.parents[0].number) == (2, 1)
    label = client.get_label("boil-water", "production")
    assert client.move_label("boil-water", "production", 2, revision=label.revision).number == 2
    with pytest.raises(errors.PreconditionFailed):
        client.move_label("boil-water", "production", 1, revision=label.revision)
    assert client.rollback("boil-water", 1).number == 3
    assert [version.number for version in client.history("boil-water").items] == [3, 2, 1]
    assert client.get_version("boil-water", 2).document.endswith("3. Wait.\n")
    assert client.blame("boil-water", 2).sentences[-1].introduced_in == 2
    assert client.lineage("boil-water").nodes
    assert client.retire("boil-water", reason="of no use").state == "retired"
    assert client.get_skill("boil-water").state == "retired"


def test_a_skill_is_exported_as_it_was_published(client: Client) -> None:
    client.create_skill("boil-water", BOIL)
    archive = zipfile.ZipFile(io.BytesIO(client.export_skill("boil-water")))
    assert archive.read("boil-water/SKILL.md").decode() == BOIL


def test_what_is_not_there_is_not_found(client: Client) -> None:
    with pytest.raises(errors.NotFound) as caught:
        client.get_skill("nothing")
    assert (caught.value.status, caught.value.code) == (404, "not_found")


def test_a_faulty_document_is_invalid_with_a_place(client: Client) -> None:
    with pytest.raises(errors.Invalid) as caught:
        client.create_skill("boil-water", "no frontmatter")
    assert caught.value.errors[0]["path"]


def test_a_wrong_key_is_unauthorized(api: TestClient) -> None:
    with pytest.raises(errors.Unauthorized):
        Client("http://testserver", "shk_wrong", transport=InProcess(api)).list_skills()


def test_all_pages_of_a_list_are_walked(client: Client) -> None:
    client.ingest_episodes([played(f"run/{number}") for number in range(5)])
    found = list(every(client.list_episodes, slice="boil", limit=2))
    assert sorted(episode.key for episode in found) == [f"run/{number}" for number in range(5)]


def test_an_episode_sent_twice_is_stored_once(client: Client) -> None:
    (first,) = client.ingest_episodes([played("run/1")]).results
    (second,) = client.ingest_episodes([played("run/1")]).results
    assert (first.created, second.created) == (True, False)
    assert first.id == second.id
    assert client.get_episode(first.id).steps[0]["action"] == "use stove"


def test_a_published_skill_is_found_and_shown(client: Client) -> None:
    client.create_skill("boil-water", BOIL)
    seq = client.events()[-1].seq
    (hit,) = client.search("heat water", min_seq=seq, explain=True).hits
    assert (hit.skill, hit.rank) == ("boil-water", 1)
    (context,) = client.contexts(["boil water"], min_seq=seq).contexts
    assert context.entries[0].document == BOIL
    assert "Turn on the stove" in context.text


def test_extraction_is_a_job_to_watch(client: Client, announced: list[str]) -> None:
    client.ingest_episodes([played("run/1")])
    (job,) = client.extract(["boil"]).jobs
    assert client.get_job(job.id).state == "queued"
    assert announced == [job.id]
    assert [found.id for found in client.list_jobs(state="queued").items] == [job.id]


def test_a_gate_is_played_through_run_trials(client: Client) -> None:
    """A candidate that always helps is accepted and published; the trials carry their episodes."""
    cases = [CaseIn(key=f"dev-{number}", split="dev", slice="boil", spec={"variation": number}) for number in range(40)]
    client.put_suite("kitchen", cases)
    candidate = client.propose("boil-water", BOIL, target_slice="boil", proposer="tests")
    opened = client.open_gate(candidate.id, suite="kitchen")

    def play(trial: TrialLease) -> TrialResult:
        score = 1.0 if trial.documents else 0.0
        episode = played(trial.id).model_copy(update={"split": "dev", "score": score, "success": bool(score)})
        return TrialResult(score=score, episode=episode)

    tally = run_trials(client, play, runner="tests")
    assert tally.failed == tally.lost == 0
    decided = client.get_candidate(candidate.id)
    assert (decided.state, decided.decision.verdict) == ("accepted", "accepted")
    assert client.get_skill("boil-water").labels["production"] == 1
    assert client.get_gate(opened.id).trials[0].episode_id


def test_a_run_that_breaks_is_told_to_the_gate(client: Client) -> None:
    client.put_suite("kitchen", [CaseIn(key=f"c{n}", split="dev", slice="boil", spec={"n": n}) for n in range(40)])
    candidate = client.propose("boil-water", BOIL, target_slice="boil", proposer="tests")
    opened = client.open_gate(candidate.id, suite="kitchen")
    tally = run_trials(client, lambda trial: 1 / 0, runner="tests", limit=1)
    assert tally.failed == 1
    assert any("ZeroDivisionError" in (trial.error or "") for trial in client.get_gate(opened.id).trials)


def test_skills_go_in_and_out_as_zips(client: Client) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("boil-water/SKILL.md", BOIL)
        archive.writestr("boil-water/stove.py", "print('on')")
        archive.writestr("bad/SKILL.md", "nothing")
    bad, good = client.import_skills(buffer.getvalue()).results
    assert (bad.error.status, good.skill, good.number) == (422, "boil-water", 1)
    exported = zipfile.ZipFile(io.BytesIO(client.export_skills(["boil-water"])))
    assert exported.read("boil-water/stove.py") == b"print('on')"
    file = {"path": "other.py", "content_base64": ""}
    assert client.publish_version("boil-water", BOIL, files=[file], label="production").number == 2
    exported = zipfile.ZipFile(io.BytesIO(client.export_skills()))
    assert exported.namelist() == ["boil-water/SKILL.md", "boil-water/other.py"]


def test_a_link_opens_the_web_view(client: Client, api: TestClient) -> None:
    assert api.get(client.ui_session().url).status_code == 200


def test_the_async_client_meets_the_same_routes(api: TestClient, key: str) -> None:
    async def walk() -> list[str]:
        async with AsyncClient("http://testserver", key, transport=httpx.ASGITransport(app=api.app)) as client:
            assert (await client.health()).status == "ready"
            await client.create_skill("boil-water", BOIL)
            return [skill.name async for skill in skillhub_client.every_async(client.list_skills)]

    assert asyncio.run(walk()) == ["boil-water"]


def _endpoints() -> list[Any]:
    modules = (access, branches, catalog, episodes, gate, jobs, optimise, webhooks)
    functions = [value for module in modules for value in vars(module).values() if inspect.isfunction(value)]
    return [function for function in functions if "Call[" in str(inspect.signature(function).return_annotation)]


def _sample(function: Any) -> Any:
    """The call of an endpoint with some argument wherever one is needed."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is inspect.Parameter.empty]
    values = {p.name: 1 if p.annotation is int else [] if "Sequence" in str(p.annotation) else "x" for p in needed}
    values |= {p.name: [] for p in needed if "Iterable" in str(p.annotation)}
    return function(**values)


def _meets(call: tuple[str, str], route: tuple[str, str]) -> bool:
    template = re.sub(r"\{\w+\}", "[^/]+", route[1])
    return call[0] == route[0] and re.fullmatch(template, call[1]) is not None
