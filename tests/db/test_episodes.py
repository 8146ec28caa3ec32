"""An episode is stored once, whole, clean and in its own workspace."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from skillhub.errors import Conflict, Invalid
from skillhub.models import Context, Episode, Event, Exposure, Skill, Step, Version, Workspace
from skillhub.rollouts.ingest import EpisodeInput, ExposureInput
from skillhub.rollouts.trace import TraceStep
from skillhub.services import episodes
from skillhub.services.scope import Scope

STEPS = (TraceStep("a dark room", "open door", 0.5, 0.5), TraceStep("a kitchen", "focus on stove", 0.5, 1.0))


def episode(key: str, **fields) -> EpisodeInput:
    values = {"environment": "scienceworld", "task": "Boil water.", "slice": "boil", "split": "train", "score": 1.0}
    return EpisodeInput(key=key, **(values | {"success": True, "steps": STEPS} | fields))


def count(scope: Scope, model: type) -> int:
    with scope.transaction() as unit:
        return unit.session.execute(sa.select(sa.func.count()).select_from(model)).scalar_one()


def kinds(scope: Scope) -> list[str]:
    with scope.transaction() as unit:
        return list(unit.session.execute(sa.select(Event.kind).order_by(Event.seq)).scalars())


def publish(scope: Scope, version_id: str) -> None:
    """The least rows an exposure can point at."""
    with scope.transaction() as unit:
        skill = {"id": "skl_1", "workspace_id": scope.workspace_id, "name": "boil", "kind": "skill"}
        unit.session.add(Skill(**skill))
        unit.session.flush()
        unit.session.add(
            Version(
                id=version_id, workspace_id=scope.workspace_id, skill_id="skl_1", number=1, content_sha256="0",
                document="d", description="d", created_by="tester",
            )
        )  # fmt: skip


def test_what_was_recorded_is_read_back(scope: Scope) -> None:
    publish(scope, "ver_1")
    shown = ExposureInput(version_id="ver_1", rank=1, score=0.25, from_step=1)
    sent = episode("a", seed=2**40, attributes={"variation": 7}, exposures=(shown,))
    [ingested] = episodes.ingest(scope, [sent])
    row, steps, exposures = episodes.get(scope, ingested.id)
    assert (row.key, row.seed, row.attributes, row.score) == ("a", 2**40, {"variation": 7}, 1.0)
    assert [(step.index, step.action, step.score) for step in steps] == [(0, "open door", 0.5), (1, "focus on stove", 1.0)]
    assert [(item.version_id, item.rank, item.score, item.from_step) for item in exposures] == [("ver_1", 1, 0.25, 1)]


def test_a_batch_is_one_event(scope: Scope) -> None:
    results = episodes.ingest(scope, [episode(f"k{number}") for number in range(20)])
    with scope.transaction() as unit:
        [event] = unit.session.execute(sa.select(Event)).scalars()
    assert (event.kind, event.payload) == ("episodes.ingested", {"ids": [item.id for item in results], "count": 20})


def test_the_same_episode_twice_is_stored_once(scope: Scope) -> None:
    [first] = episodes.ingest(scope, [episode("a")])
    again, new = episodes.ingest(scope, [episode("a"), episode("b")])
    assert (first.created, again.created, new.created) == (True, False, True)
    assert again.id == first.id
    assert (count(scope, Episode), count(scope, Step)) == (2, 4)
    assert episodes.ingest(scope, [episode("b")])[0].created is False
    assert kinds(scope) == ["episodes.ingested"] * 2


def test_a_key_twice_in_one_batch_is_stored_once(scope: Scope) -> None:
    one, two = episodes.ingest(scope, [episode("a"), episode("a")])
    assert one.id == two.id
    assert (one.created, two.created, count(scope, Step)) == (True, False, 2)


@pytest.mark.parametrize(
    "change", [{"score": 0.5}, {"steps": STEPS[:1]}, {"attributes": {"x": 1}}, {"success": False}, {"seed": 1}]
)
def test_the_same_key_with_other_content_is_a_conflict_that_names_the_key(scope: Scope, change: dict) -> None:
    episodes.ingest(scope, [episode("stored-before")])
    with pytest.raises(Conflict, match="stored-before"):
        episodes.ingest(scope, [episode("new"), replace(episode("stored-before"), **change)])
    assert count(scope, Episode) == 1


def test_a_conflict_inside_one_batch_stores_nothing(scope: Scope) -> None:
    with pytest.raises(Conflict, match="'a'"):
        episodes.ingest(scope, [episode("a"), episode("a", score=0.0)])
    assert (count(scope, Episode), count(scope, Event)) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"context_id": "ctx_none"}, "/episodes/1/context_id"),
        ({"trial_id": "tri_none"}, "/episodes/1/trial_id"),
        ({"exposures": (ExposureInput(version_id="ver_none", rank=1, score=0.0),)}, "/episodes/1/exposures/0/version_id"),
        ({"exposures": (ExposureInput(candidate_id="cnd_no", rank=1, score=0.0),)}, "/episodes/1/exposures/0/candidate_id"),
        ({"score": 1.5}, "/episodes/1/score"),
    ],
)
def test_an_unknown_reference_or_a_bad_score_refuses_the_batch_with_its_path(scope: Scope, fields: dict, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        episodes.ingest(scope, [episode("good"), episode("bad", **fields)])
    assert refused.value.errors[0]["path"] == path
    assert count(scope, Episode) == 0


def test_a_context_of_another_workspace_is_unknown(scope: Scope) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
        session.flush()
        session.add(
            Context(id="ctx_x", workspace_id="wsp_other", task="", label="", token_budget=1, text="", text_sha256="", seq=1)
        )
    with pytest.raises(Invalid, match="ctx_x"):
        episodes.ingest(scope, [episode("a", context_id="ctx_x")])


def test_the_same_key_in_two_workspaces_is_two_episodes(scope: Scope) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    other = replace(scope, workspace_id="wsp_other")
    assert episodes.ingest(scope, [episode("a")])[0].created
    assert episodes.ingest(other, [episode("a", score=0.0)])[0].created


def test_credentials_are_redacted_before_storage(scope: Scope) -> None:
    key = "sk-live-4f9A8b7C6d5E4f3A2b1C"
    steps = (TraceStep(f"api_key: {key}", f"curl -H 'Authorization: Bearer {key}'"),)
    [ingested] = episodes.ingest(scope, [episode("a", task=f"use {key}", steps=steps, attributes={"note": [key]})])
    row, stored_steps, _ = episodes.get(scope, ingested.id)
    text = f"{row.task} {row.attributes} {stored_steps}"
    assert "sk-live" not in text
    assert text.count("[redacted") == 4


def test_bytes_a_database_cannot_hold_do_not_lose_the_episode(scope: Scope) -> None:
    steps = (TraceStep("binary \x00 output \ud800", "cat \x00"),)
    [ingested] = episodes.ingest(scope, [episode("a", steps=steps, attributes={"k\x00": "\udfff"})])
    row, [step], _ = episodes.get(scope, ingested.id)
    assert step.observation == "binary \ufffd output \ufffd"
    assert row.attributes == {"k\ufffd": "\ufffd"}


def test_traces_are_the_episodes_of_a_slice_and_split_oldest_first(scope: Scope) -> None:
    batch = [episode("a"), episode("b", slice="melt"), episode("c", split="dev"), episode("d", steps=())]
    ids = {item.key: item.id for item in episodes.ingest(scope, batch)}
    found = episodes.traces(scope, slice="boil", split="train")
    assert sorted(trace.episode_id for trace in found) == sorted([ids["a"], ids["d"]])
    assert {trace.episode_id: trace.steps for trace in found}[ids["a"]] == STEPS
    assert len(episodes.traces(scope, slice="boil")) == 3


def test_an_empty_batch_changes_nothing(scope: Scope) -> None:
    assert episodes.ingest(scope, []) == []
    assert count(scope, Exposure) == count(scope, Event) == 0
