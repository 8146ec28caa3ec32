"""MCP by the official client: over HTTP against a running API, and over stdio against a real process."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from skillhub.services import keys
from skillhub.services.scope import Scope
from tests.api.conftest import SECRET, Served
from tests.api.test_search_api import document
from tests.conftest import ROOT

TOOLS = {"search_skills", "get_skill", "get_context", "record_outcome", "propose_change"}
Talk = Callable[[Client], Awaitable[Any]]


def over_http(url: str, key: str, talk: Talk) -> Any:
    async def main() -> Any:
        http = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30)
        async with http, Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
            return await talk(client)

    return asyncio.run(main())


def over_stdio(url: str, key: str, talk: Talk) -> Any:
    environment = os.environ | {"SKILLHUB_URL": url, "SKILLHUB_API_KEY": key, "PYTHONPATH": str(ROOT)}
    command = StdioServerParameters(command=sys.executable, args=["-m", "skillhub.cli", "mcp"], env=environment)

    async def main() -> Any:
        async with Client(stdio_client(command)) as client:
            return await talk(client)

    return asyncio.run(main())


def publish(served: Served, name: str, about: str) -> None:
    body = {"name": name, "document": document(name, about)}
    assert httpx.post(f"{served.url}/v1/skills", json=body, headers=served.headers).status_code == 201


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


@pytest.mark.parametrize("way", [over_http, over_stdio])
def test_an_agent_walks_the_circle_with_tools_alone(served: Served, way: Callable[..., Any]) -> None:
    publish(served, "boil-water", "Boil water on a stove.")

    async def talk(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        [found, *_] = (await call(client, "search_skills", query="heat water"))["skills"]
        assert (found["name"], found["number"]) == ("boil-water", 1)
        text = await call(client, "get_skill", name="boil-water")
        assert text["document"] == document("boil-water", "Boil water on a stove.")
        context = await call(client, "get_context", task="make tea", k=1)
        assert (context["skills"], "Boil water" in context["text"]) == (["boil-water"], True)
        steps = [{"observation": "a pot", "action": "fill pot"}]
        facts = {"task": "make tea", "slice": "tea", "success": True, "context_id": context["context_id"], "steps": steps}
        episode = await call(client, "record_outcome", **facts)
        better = document("boil-water", "Boil water on a stove, then wait.")
        facts = {"name": "boil-water", "document": better, "target_slice": "tea", "rationale": "It helps to wait.", "base": 1}
        proposed = await call(client, "propose_change", **facts)
        stored = httpx.get(f"{served.url}/v1/episodes/{episode['episode_id']}", headers=served.headers).json()
        assert (stored["success"], len(stored["exposures"]), stored["steps"][0]["action"]) == (True, 1, "fill pot")
        candidate = httpx.get(f"{served.url}/v1/candidates/{proposed['candidate_id']}", headers=served.headers).json()
        assert (candidate["state"], candidate["skill_name"]) == ("proposed", "boil-water")

    way(served.url, served.key, talk)


def test_a_fault_is_told_in_words_with_its_place(served: Served) -> None:
    async def talk(client: Client) -> None:
        assert "there is no skill 'nothing'" in await refused(client, "get_skill", name="nothing")
        bad = {"name": "x", "document": "no frontmatter", "target_slice": "s", "rationale": "r"}
        said = await refused(client, "propose_change", **bad)
        assert "invalid" in said and "line 1" in said
        assert "/body/tasks/0" in await refused(client, "get_context", task=" ")
        assert "k" in await refused(client, "search_skills", query="x", k=0)

    over_http(served.url, served.key, talk)


def test_without_a_key_that_holds_there_is_nothing(served: Served) -> None:
    for headers in ({}, {"Authorization": "Bearer shk_wrong"}, {"Authorization": "Basic x"}):
        answer = httpx.post(f"{served.url}/mcp", json={}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_key_does_what_its_role_says(served: Served, scope: Scope) -> None:
    reader = keys.create_key(scope, name="reader", secret=SECRET, role="read")

    async def talk(client: Client) -> None:
        assert await call(client, "search_skills", query="water") == {"skills": []}
        said = await refused(client, "record_outcome", task="t", slice="s", success=True)
        assert "the role record is needed" in said
        facts = {"name": "x", "document": document("x", "X."), "target_slice": "s", "rationale": "r"}
        assert "the role propose is needed" in await refused(client, "propose_change", **facts)

    over_http(served.url, reader, talk)


def test_a_proposal_may_be_edits_and_rests_on_recorded_episodes(served: Served) -> None:
    publish(served, "boil-water", "Boil water on a stove.")

    async def talk(client: Client) -> None:
        facts = {"task": "make tea", "slice": "tea", "success": True}
        episode = (await call(client, "record_outcome", **facts))["episode_id"]
        edits = [{"op": "add", "anchor": "", "text": "Wait for the bubbles."}]
        claim = {"claim": "Wait for the bubbles.", "anchor": "", "episode_ids": [episode]}
        facts = {"name": "boil-water", "target_slice": "tea", "rationale": "r", "operations": edits, "base": 1}
        proposed = await call(client, "propose_change", **facts, evidence=[claim])
        candidate = httpx.get(f"{served.url}/v1/candidates/{proposed['candidate_id']}", headers=served.headers).json()
        assert candidate["document"].rstrip().endswith("Wait for the bubbles.")
        assert [row["episode_ids"] for row in candidate["evidence"]] == [[episode]]
        assert "/operations/0/anchor" in await refused(
            client, "propose_change", **facts | {"operations": [edits[0] | {"anchor": "none"}]}
        )
        assert "document" in await refused(client, "propose_change", **facts | {"operations": []})
        unsaid = claim | {"claim": "Never said."}
        assert "/evidence/0/claim" in await refused(client, "propose_change", **facts, evidence=[unsaid])

    over_http(served.url, served.key, talk)


def test_messages_and_tools_are_counted_against_the_limits_of_the_key(served: Served, scope: Scope) -> None:
    _, few = keys.create(scope, name="few", secret=SECRET, limits={"reads_per_minute": 3})
    headers = {"Authorization": f"Bearer {few}", "Accept": "application/json, text/event-stream"}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answers = [httpx.post(f"{served.url}/mcp", json=listing, headers=headers) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert (answers[3].json()["code"], int(answers[3].headers["Retry-After"]) >= 1) == ("rate_limited", True)

    async def talk(client: Client) -> None:
        facts = {"task": "make tea", "slice": "tea", "success": True}
        await call(client, "record_outcome", **facts)
        assert "rate_limited" in await refused(client, "record_outcome", **facts)

    over_http(served.url, keys.create(scope, name="one", secret=SECRET, limits={"writes_per_minute": 1})[1], talk)


def test_over_stdio_a_hub_that_is_away_and_a_wrong_key_are_told_in_words(served: Served) -> None:
    async def talk(client: Client) -> str:
        return await refused(client, "search_skills", query="water")

    assert "unauthorized" in over_stdio(served.url, "shk_wrong", talk)
    assert "connection_failed" in over_stdio("http://127.0.0.1:9", served.key, talk)


def test_a_workspace_sees_only_its_own_skills(served: Served, scope: Scope) -> None:
    publish(served, "boil-water", "Boil water on a stove.")
    other = Scope(scope.database, keys.ensure_workspace(scope.database, "other"), "system")

    async def talk(client: Client) -> None:
        assert await call(client, "search_skills", query="boil water") == {"skills": []}
        assert "there is no skill 'boil-water'" in await refused(client, "get_skill", name="boil-water")

    over_http(served.url, keys.create_key(other, name="theirs", secret=SECRET), talk)


def test_many_calls_at_once_are_all_answered(served: Served) -> None:
    publish(served, "boil-water", "Boil water on a stove.")

    async def talk(client: Client) -> None:
        answers = await asyncio.gather(*(call(client, "get_context", task=f"boil {n}", k=1) for n in range(16)))
        assert len({answer["context_id"] for answer in answers}) == 16

    over_http(served.url, served.key, talk)
