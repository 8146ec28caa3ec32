"""The client against a scripted server: what it sends, what it retries, what it raises."""

import asyncio
import inspect
import json
from collections.abc import Callable

import httpx
import pytest
import skillhub_client
from skillhub_client import AsyncClient, Client, EpisodeIn, Retries, errors, every

Answer = httpx.Response | Exception
QUICK = Retries(base_seconds=0.0)
JOB = {"id": "job_1", "kind": "curation.extract", "created_at": "2026-01-01T00:00:00Z"}


class Script(httpx.MockTransport):
    """Gives prepared answers in order and keeps the requests."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(self._next)
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def _next(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def client_of(script: Script, *, retries: Retries = QUICK) -> Client:
    return Client("http://hub", "shk_key", transport=script, retries=retries)


def ok(**body: object) -> httpx.Response:
    return httpx.Response(200, json=body)


def problem(status: int, *, code: str, headers: dict[str, str] | None = None, **extra: object) -> httpx.Response:
    return httpx.Response(status, json={"code": code, "detail": f"the {code}"} | extra, headers=headers)


def no_contexts() -> httpx.Response:
    return ok(contexts=[], seq=7)


def test_public_names_are_exactly_all() -> None:
    public = {name for name, value in vars(skillhub_client).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public == set(skillhub_client.__all__)


def test_both_clients_have_the_same_methods_with_the_same_arguments() -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(value).parameters)
            for name, value in vars(kind).items()
            if callable(value) and not name.startswith("_")
        }

    assert methods(Client) == methods(AsyncClient)


def test_every_error_of_the_tree_is_drawn_in_its_docstring() -> None:
    tree = [value.__name__ for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]
    assert all(name in errors.__doc__ for name in tree)


def test_a_request_carries_the_key_and_the_arguments() -> None:
    script = Script(no_contexts())
    assert client_of(script).contexts(["boil water"], k=2).seq == 7
    (request,) = script.requests
    assert request.url == "http://hub/v1/contexts"
    assert request.headers["Authorization"] == "Bearer shk_key"
    assert json.loads(request.content) == {"tasks": ["boil water"], "k": 2, "token_budget": 2000, "label": "production"}


def test_names_are_one_part_of_the_path_whatever_they_contain() -> None:
    script = Script(problem(404, code="not_found"))
    with pytest.raises(errors.NotFound):
        client_of(script).get_skill("../admin?x=1")
    assert script.requests[0].url.raw_path == b"/v1/skills/..%2Fadmin%3Fx%3D1"


@pytest.mark.parametrize(
    "first",
    [
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("cut"),
        problem(429, code="rate_limited"),
        httpx.Response(502, text="<html>"),
        problem(503, code="unavailable"),
    ],
    ids=["refused", "cut", "429", "502", "503"],
)
def test_a_retried_post_keeps_its_idempotency_key(first: Answer) -> None:
    script = Script(first, ok(results=[]))
    client_of(script).ingest_episodes([])
    keys = [request.headers["Idempotency-Key"] for request in script.requests]
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_two_calls_have_two_idempotency_keys() -> None:
    script = Script(no_contexts(), no_contexts())
    client = client_of(script)
    client.contexts([])
    client.contexts([])
    assert script.requests[0].headers["Idempotency-Key"] != script.requests[1].headers["Idempotency-Key"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 422, 500])
def test_a_refusal_is_not_retried(status: int) -> None:
    script = Script(problem(status, code="no"))
    with pytest.raises(errors.ApiError) as caught:
        client_of(script).get_job("job_1")
    assert len(script.requests) == 1
    assert (caught.value.status, caught.value.code) == (status, "no")


def test_a_call_that_timed_out_is_not_repeated() -> None:
    script = Script(httpx.ReadTimeout("slow"))
    with pytest.raises(errors.TimedOut):
        client_of(script).contexts([])
    assert len(script.requests) == 1


def test_retries_end() -> None:
    script = Script(*[httpx.ConnectError("refused")] * 3)
    with pytest.raises(errors.ConnectionFailed) as caught:
        client_of(script, retries=Retries(attempts=3, base_seconds=0)).health()
    assert caught.value.status is None
    assert caught.value.request.url.path == "/readyz"


def test_a_retry_waits_as_long_as_the_server_asks() -> None:
    assert Retries().pause(1, retry_after_seconds=3.0) == 3.0


def test_a_server_that_asks_for_too_long_is_not_waited_for() -> None:
    script = Script(problem(503, code="unavailable", headers={"Retry-After": "3600"}))
    with pytest.raises(errors.Unavailable) as caught:
        client_of(script).health()
    assert caught.value.retry_after_seconds == 3600


def test_pauses_grow_with_jitter_up_to_a_limit() -> None:
    retries = Retries(attempts=100, base_seconds=1.0, longest_seconds=10.0)
    for attempt, longest in [(1, 1.0), (2, 2.0), (3, 4.0), (20, 10.0)]:
        pauses = {retries.pause(attempt, retry_after_seconds=None) for _ in range(50)}
        assert longest / 2 <= min(pauses) < max(pauses) <= longest


def test_the_error_of_an_invalid_field_names_it() -> None:
    found = [{"path": "/body/k", "message": "too large"}]
    script = Script(problem(422, code="invalid", errors=found))
    with pytest.raises(errors.Invalid) as caught:
        client_of(script).search("x")
    assert caught.value.errors == found


def test_a_page_of_a_proxy_is_a_bad_answer() -> None:
    script = Script(httpx.Response(200, text="<html>sign in</html>"))
    with pytest.raises(errors.BadAnswer):
        client_of(script).list_skills()


def test_fields_of_a_newer_server_do_no_harm() -> None:
    assert client_of(Script(ok(status="ready", colour="green"))).health().status == "ready"


def test_every_walks_through_all_pages() -> None:
    def episode(key: str, cursor: str | None) -> httpx.Response:
        fields = {"id": key, "key": key, "environment": "e", "task": "t", "slice": "s", "score": 1, "success": True}
        return ok(items=[fields | {"created_at": "2026-01-01T00:00:00Z"}], next_cursor=cursor)

    script = Script(episode("a", "next"), episode("b", None))
    assert [episode.key for episode in every(client_of(script).list_episodes, slice="s")] == ["a", "b"]
    assert dict(script.requests[1].url.params) == {"slice": "s", "cursor": "next"}


def test_a_job_is_awaited_past_a_failed_attempt() -> None:
    script = Script(*[ok(**JOB, state=state) for state in ("queued", "failed", "running", "succeeded")])
    assert client_of(script).wait_for_job("job_1", poll_seconds=0).state == "succeeded"


def test_a_wait_for_a_job_ends() -> None:
    script = Script(ok(**JOB, state="running"))
    with pytest.raises(errors.TimedOut, match="still running"):
        client_of(script).wait_for_job("job_1", timeout_seconds=0)


def test_an_episode_with_an_unknown_field_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ValueError, match="scroe"):
        EpisodeIn(key="k", environment="e", task="t", slice="s", score=1.0, success=True, scroe=1.0)


def test_the_async_client_retries_and_reads_in_the_same_way() -> None:
    script = Script(httpx.ConnectError("refused"), no_contexts())

    async def call() -> int:
        async with AsyncClient("http://hub", "shk_key", transport=script, retries=QUICK) as client:
            return (await client.contexts([])).seq

    assert asyncio.run(call()) == 7
    keys = [request.headers["Idempotency-Key"] for request in script.requests]
    assert keys[0] == keys[1]


def test_the_wait_between_tries_is_the_one_of_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("skillhub_client.client.time.sleep", slept.append)
    script = Script(problem(429, code="rate_limited", headers={"Retry-After": "2"}), no_contexts())
    client_of(script).contexts([])
    assert slept == [2.0]


def test_a_retry_after_date_is_understood() -> None:
    from skillhub_client.transport import retry_after

    past = httpx.Response(503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    assert retry_after(past) == 0.0
    assert retry_after(httpx.Response(503, headers={"Retry-After": "soon"})) is None


def test_one_string_where_several_are_wanted_is_refused_and_nothing_is_sent() -> None:
    script = Script()
    for method, wrong in (("contexts", "tea"), ("extract", "boil")):
        with pytest.raises(errors.Invalid, match="one string"):
            getattr(client_of(script), method)(wrong)
    assert script.requests == []


@pytest.mark.parametrize(
    "call",
    [
        lambda hub: hub.ingest_episodes([{"key": "k", "score": float("nan")}]),
        lambda hub: hub.ingest_episodes([{"key": object()}]),
        lambda hub: hub.ingest_episodes(["k"]),
        lambda hub: hub.ingest_episodes({"key": "k"}),
        lambda hub: hub.ingest_episodes(7),
        lambda hub: hub.put_suite("s", [1]),
        lambda hub: hub.search("half a \ud800 character"),
        lambda hub: hub.contexts([1]),
        lambda hub: hub.open_gate("can_1", suite="s", protected_slices="boil"),
        lambda hub: hub.open_gate("can_1", suite="s", companions="boil"),
        lambda hub: hub.lease_trials(runner="r", suites="kitchen"),
        lambda hub: hub.finish_trial("trl_1", lease_token="t", score=float("inf")),
    ],
)
def test_what_cannot_be_sent_is_an_error_of_the_one_tree(call: Callable[[Client], object]) -> None:
    script = Script()
    with pytest.raises(errors.Invalid) as caught:
        call(client_of(script))
    assert caught.value.status is None and caught.value.errors
    assert script.requests == []


def test_an_empty_name_is_refused_and_nothing_is_sent() -> None:
    script = Script()
    with pytest.raises(errors.Invalid, match="empty"):
        client_of(script).get_skill("")
    assert script.requests == []


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_key_that_cannot_be_one_is_refused_without_repeating_it(kind: type) -> None:
    with pytest.raises(errors.SkillhubError, match="API key") as caught:
        kind("http://hub", "shk_secret\n")
    assert "secret" not in str(caught.value)
