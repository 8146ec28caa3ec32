"""Promise 10: tenants are isolated. Two tenants x every operation of the OpenAPI, those that are written later included.

Whoever asks with the ids and names of another tenant gets the very answer of one who asks for what is nowhere.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from sqlalchemy.exc import DBAPIError

from api import contract
from api.app import create_app
from skillhub.config import Settings
from skillhub.models import Context, Optimisation, Webhook, WebhookDelivery, Workspace
from skillhub.services import branches, curation, keys, schedules
from skillhub.services.schedules import ScheduleInput
from skillhub.services.scope import Scope
from tests.proven import NAME, proven_skill

SECRET = "a-secret-of-the-tests"
NOWHERE = "nowhere"
CHANGING = re.compile(
    r"\b[a-z]{3}_[0-9a-z]{26}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\bshk_[\w-]+|\bwhsec_[^\"]+|\b[0-9a-f]{64}\b|link=[^\"]+|wsp_[ab]\b"
)
"""What differs between two answers to the same request: new ids, times, keys, hashes."""


@pytest.fixture
def theirs(scope: Scope) -> dict[str, str]:
    """Another tenant with something of everything; its id or name for each kind of parameter."""
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_theirs", name="theirs"))
    other = Scope(scope.database, "wsp_theirs", "system")
    proven_skill(other)
    [job] = curation.request_extraction(other, slices=["theirs"], split="train")
    row, _ = keys.create(other, name="theirs", secret=SECRET)
    facts = {"kind": "curation.extract_skills", "payload": {"slices": ["theirs"], "split": "train"}}
    plan = ScheduleInput(**facts, every_seconds=3600)
    schedules.put(other, "their-schedule", plan)
    branches.create(other, skill=NAME, name="their-branch")
    own = {"workspace_id": other.workspace_id}
    with other.transaction() as unit:
        skill, version = unit.session.execute(sa.text("SELECT skill_id, id FROM version ORDER BY id LIMIT 1")).one()
        suite = unit.session.execute(sa.text("SELECT id FROM suite LIMIT 1")).scalar_one()
        facts = {"skill_id": skill, "base_version_id": version, "suite_id": suite, "start_document": "", "proposer": "them"}
        more = {"budget": 1, "seed": 0, "state": "cancelled", "created_by": "them"}
        unit.session.add(Optimisation(id="opt_theirs", **own, **facts, **more))
    with other.transaction() as unit:
        context = Context(id="ctx_theirs", **own, task="t", label="production", token_budget=1, text="", text_sha256="", seq=1)
        hook = Webhook(id="whk_theirs", **own, url="https://theirs.example/", after_seq=0, created_by="them", state="paused")
        unit.session.add_all([context, hook])
        unit.session.flush()
        unit.session.add(WebhookDelivery(id="msg_theirs", **own, webhook_id=hook.id, seq=1))
        ids = {
            table: unit.session.execute(sa.text(f'SELECT id FROM "{table}" ORDER BY id LIMIT 1')).scalar_one()
            for table in ("version", "candidate", "gate", "trial", "episode", "suite", "decision")
        }
    return {
        **{f"{table}_id": found for table, found in ids.items()}, "job_id": job.id, "key_id": row.id, "name": NAME,
        "skill_name": NAME, "skill": NAME, "suite": "suite-1", "slice": "theirs", "schedule": "their-schedule",
        "branch": "their-branch", "optimisation_id": "opt_theirs",
        "context_id": "ctx_theirs", "webhook_id": "whk_theirs", "delivery_id": "msg_theirs",
    }  # fmt: skip


@pytest.fixture
def app(database_url: str) -> Iterator[TestClient]:
    settings = Settings(database_url=database_url, secret=SECRET, search_wait_seconds=0.1)
    with TestClient(create_app(settings, announce=lambda job_id: None), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def ours(app: TestClient, scope: Scope) -> TestClient:
    return member(app, scope, scope.workspace_id)


def member(app: TestClient, scope: Scope, workspace_id: str) -> TestClient:
    """A client with an admin key of a workspace, which is made where it is not there."""
    with scope.database.system_transaction() as session:
        if session.get(Workspace, workspace_id) is None:
            session.add(Workspace(id=workspace_id, name=workspace_id))
    key = keys.create_key(Scope(scope.database, workspace_id, "system"), name="ours", secret=SECRET)
    return TestClient(app.app, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False)


def rows(scope: Scope, workspace_id: str) -> dict[str, list[str]]:
    """Everything a tenant has, table by table, as the owner of the database sees it."""
    found = {}
    with scope.database.engine.connect() as owner:
        for table in set(tenant_tables(scope)) - {"embedding"}:  # the index makes those by itself
            query = f'SELECT t::text FROM "{table}" t WHERE workspace_id = :id ORDER BY 1'
            found[table] = owner.execute(sa.text(query), {"id": workspace_id}).scalars().all()
    return found


def tenant_tables(scope: Scope) -> list[str]:
    query = "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'workspace_id'"
    with scope.database.engine.connect() as owner:
        return sorted(owner.execute(sa.text(query)).scalars())


def replaced(value: Any, ids: dict[str, str], name: str = "") -> Any:
    """A body with each id or name in it replaced by one of `ids`, wherever it stands."""
    if isinstance(value, dict):
        return {key: replaced(item, ids, key) for key, item in value.items()}
    if isinstance(value, list):
        singular = {"ids": "version_id", "skills": "skill"}.get(name, name.removesuffix("s"))
        return [replaced(item, ids, singular) for item in value]
    if not isinstance(value, str):
        return value
    return ids.get(name) or value.replace(NAME, ids["name"])


def ask(client: TestClient, path: str, method: str, operation: dict[str, Any], ids: dict[str, str]) -> tuple[int, str]:
    """Status and body of the answer, without what changes by itself and without the ids that were asked for."""
    named = {"/v1/suites": ids["suite"], "/v1/schedules": ids["schedule"]}.get(path.partition("/{")[0], ids["name"])
    places = ids | {"name": named, "number": "1", "label": "production"}
    url = re.sub(r"\{(\w+)\}", lambda part: places[part[1]], path)
    names = {item["name"] for item in operation["parameters"] if item["in"] == "query"}
    query = {name: ids[name] for name in names if name in ids}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    sent = {"json": replaced(body["example"], ids)} if body else {}
    answer = client.request(method, url, params=query, **sent)
    text = "a zip" if answer.content.startswith(b"PK") else answer.text
    for asked in sorted(ids.values(), key=len, reverse=True):
        text = text.replace(asked, "?")
    return answer.status_code, CHANGING.sub("*", text)


def test_10_no_operation_tells_of_another_tenant(app: TestClient, scope: Scope, theirs: dict[str, str]) -> None:
    """Two tenants do the same, one with the ids and names of a third, one with those of nobody."""
    nobody = {name: f"{value[:4]}{NOWHERE}" for name, value in theirs.items() if name.endswith("_id")}
    nobody |= {"name": NOWHERE, "skill": NOWHERE, "skill_name": NOWHERE, "suite": "no-suite", "slice": "no-slice"}
    nobody |= {"schedule": "no-schedule", "branch": "no-branch"}
    curious, honest = (member(app, scope, workspace_id) for workspace_id in ("wsp_a", "wsp_b"))
    before, asked, differences = rows(scope, "wsp_theirs"), 0, []
    for path, method, operation in contract.operations(app.app.openapi()):
        found, missing = ask(curious, path, method, operation, theirs), ask(honest, path, method, operation, nobody)
        asked += 2
        if found != missing:
            differences.append(f"{method} {path}: {found} != {missing}")
    print(f"\n{asked} requests of {asked // 2} operations with ids of another tenant: {len(differences)} tell of it")
    assert not differences, "\n".join(differences)
    assert rows(scope, "wsp_theirs") == before
    assert "wsp_theirs" not in json.dumps(rows(scope, "wsp_a"))


def test_10_an_id_in_a_body_reaches_no_row_of_another_tenant(ours: TestClient, scope: Scope, theirs: dict[str, str]) -> None:
    episode = {"key": "a", "environment": "e", "task": "t", "slice": "s", "score": 1.0, "success": True}
    places = [
        {"exposures": [{"version_id": theirs["version_id"], "rank": 1, "score": 0.5}]},
        {"exposures": [{"candidate_id": theirs["candidate_id"], "rank": 1, "score": 0.5}]},
        {"trial_id": theirs["trial_id"]},
        {"context_id": theirs["context_id"]},
    ]
    for place in places:
        answer = ours.post("/v1/episodes/batch", json={"episodes": [episode | place]})
        assert (answer.status_code, "is not known" in answer.text) == (422, True), place
    document = "---\nname: mine\ndescription: Mine.\n---\n\n# Steps\n\nDo it.\n"
    claim = {"anchor": "steps", "claim": "Do it.", "polarity": 1, "episode_ids": [theirs["episode_id"]]}
    facts = {"skill_name": "mine", "kind": "skill", "target_slice": "s", "proposer": "p", "document": document}
    answer = ours.post("/v1/candidates", json=facts | {"evidence": [claim]})
    assert (answer.status_code, theirs["episode_id"] in answer.text) == (422, True)
    foreign = """
        SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text FROM pg_constraint c
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE c.contype = 'f' AND c.confrelid <> 'workspace'::regclass AND cardinality(c.conkey) = 1
    """
    with scope.database.engine.connect() as owner:
        for child, column, parent in owner.execute(sa.text(foreign)).all():
            joined = f"{child} c JOIN {parent} p ON p.id = c.{column}"
            crossed = owner.execute(sa.text(f"SELECT count(*) FROM {joined} WHERE c.workspace_id <> p.workspace_id"))
            assert crossed.scalar_one() == 0, (child, column)


def test_10_every_table_of_tenants_is_under_forced_row_level_security(scope: Scope, theirs: dict[str, str]) -> None:
    tables = tenant_tables(scope)
    secured = """
        SELECT c.relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid
        WHERE c.relrowsecurity AND c.relforcerowsecurity AND p.polname = 'tenant'
    """
    with scope.database.engine.connect() as owner:
        assert set(tables) <= set(owner.execute(sa.text(secured)).scalars())
        owned = "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) IN ('skillhub_app', 'skillhub_system')"
        assert owner.execute(sa.text(owned)).scalar_one() == 0
        filled = [table for table in tables if owner.execute(sa.text(f'SELECT count(*) FROM "{table}"')).scalar_one()]
    for workspace_id in (scope.workspace_id, ""):
        with scope.database.transaction(workspace_id) as session:
            for table in filled:
                assert session.execute(sa.text(f'SELECT count(*) FROM "{table}"')).scalar_one() == 0, table
    print(f"\n{len(tables)} tables under the policy, {len(filled)} of them filled by another tenant: 0 rows seen")


def test_10_a_pooled_connection_carries_no_tenant_after_an_error(scope: Scope, theirs: dict[str, str]) -> None:
    with pytest.raises(DBAPIError), scope.database.transaction("wsp_theirs") as session:
        session.execute(sa.text("SELECT 1 / 0"))
    with scope.database.engine.connect() as same:
        assert same.execute(sa.text("SELECT coalesce(current_setting('skillhub.workspace', true), '')")).scalar_one() == ""
        assert same.execute(sa.text("SELECT current_user")).scalar_one() not in ("skillhub_app", "skillhub_system")


def test_a_leaked_dump_holds_no_key_and_no_credential(ours: TestClient, scope: Scope) -> None:
    credential = "sk-live-4f9A8b7C6d5E4f3A2b1C"
    made = ours.post("/v1/keys", json={"name": "x", "role": "read"}).json()["key"]
    steps = [{"observation": f"api_key: {credential}", "action": "look"}]
    episode = {"key": "a", "environment": "e", "task": "t", "slice": "s", "score": 1.0, "success": True, "steps": steps}
    assert ours.post("/v1/episodes/batch", json={"episodes": [episode]}).status_code == 200
    dump = json.dumps(rows(scope, scope.workspace_id))
    own = ours.headers["Authorization"].removeprefix("Bearer ")
    assert not [secret for secret in (credential, made, own, own[10:47], SECRET) if secret in dump]
