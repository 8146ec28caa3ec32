"""Episodes come in clean, or are refused with the place of what is wrong."""

import math
from dataclasses import replace

import pytest

from skillhub.errors import Invalid
from skillhub.rollouts import ingest
from skillhub.rollouts.ingest import EpisodeInput, ExposureInput
from skillhub.rollouts.trace import TraceStep

GOOD = EpisodeInput(
    key="run-7",
    environment="scienceworld",
    task="Boil water.",
    slice="boil",
    score=1,
    success=True,
    attributes={"variation": 7, "nested": {"list": [1, 2.5, None, True]}},
    steps=(TraceStep("seen", "done", 1.0, 1.0),),
    exposures=(ExposureInput(version_id="ver_1", rank=1, score=-3.5),),
)


def normalise(item: EpisodeInput) -> EpisodeInput:
    return ingest.normalise(item, path="/episodes/3", redact=lambda text: text)


def step(**fields) -> dict:
    return {"steps": (replace(GOOD.steps[0], **fields),)}


def exposure(**fields) -> dict:
    return {"exposures": (replace(GOOD.exposures[0], **fields),)}


def deep(levels: int) -> dict:
    return {"a": deep(levels - 1)} if levels else {}


def test_a_good_episode_stays_as_it_is() -> None:
    assert normalise(GOOD) == GOOD


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"score": 1.5}, "score"),
        ({"score": -0.01}, "score"),
        ({"score": math.nan}, "score"),
        ({"score": math.inf}, "score"),
        ({"score": "1"}, "score"),
        ({"key": " "}, "key"),
        ({"key": "k" * 201}, "key"),
        ({"slice": ""}, "slice"),
        ({"task": "t" * (ingest.MAX_TEXT + 1)}, "task"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 0.5}, "seed"),
        ({"steps": GOOD.steps * (ingest.MAX_STEPS + 1)}, "steps"),
        ({"steps": (TraceStep("o" * ingest.MAX_TEXT, "a"),) * 21}, "steps"),
        (step(score=2.0), "steps/0/score"),
        (step(reward=math.nan), "steps/0/reward"),
        (step(action=None), "steps/0/action"),
        (step(observation="o" * (ingest.MAX_TEXT + 1)), "steps/0/observation"),
        (exposure(score=math.inf), "exposures/0/score"),
        (exposure(rank=2**31), "exposures/0/rank"),
        (exposure(from_step=2), "exposures/0/from_step"),
        (exposure(from_step=-1), "exposures/0/from_step"),
        (exposure(version_id=None), "exposures/0"),
        (exposure(candidate_id="cnd_1"), "exposures/0"),
        ({"exposures": GOOD.exposures * 201}, "exposures"),
        ({"attributes": {"a": {"b": [0, math.nan]}}}, "attributes/a/b/1"),
        ({"attributes": {"a": object()}}, "attributes/a"),
        ({"attributes": {"a": "x" * 64_001}}, "attributes"),
        ({"attributes": deep(9)}, "attributes" + "/a" * 9),
    ],
)
def test_what_is_wrong_is_refused_with_its_path_and_the_key(fields: dict, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        normalise(replace(GOOD, **fields))
    assert refused.value.errors[0]["path"] == f"/episodes/3/{path}"
    assert str(fields.get("key", "run-7"))[:200] in refused.value.detail


def test_every_text_is_redacted() -> None:
    item = replace(GOOD, task="x", attributes={"k": ["x"]}, steps=(TraceStep("x", "x"),))
    clean = ingest.normalise(item, path="", redact=lambda text: text.replace("x", "-"))
    assert (clean.task, clean.attributes, clean.steps[0].observation, clean.steps[0].action) == ("-", {"k": ["-"]}, "-", "-")


def test_characters_a_database_cannot_hold_are_replaced() -> None:
    clean = normalise(replace(GOOD, task="\ud800", attributes={"\x00": "\x00"}))
    assert (clean.task, clean.attributes) == ("\ufffd", {"\ufffd": "\ufffd"})


@pytest.mark.parametrize("name", ["key", "environment", "slice", "split", "policy"])
def test_a_name_is_refused_where_it_would_have_to_be_replaced_two_could_become_one(name: str) -> None:
    for text in ("a\x00", "a\ud800"):
        with pytest.raises(Invalid) as caught:
            normalise(replace(GOOD, **{name: text}))
        assert caught.value.errors[0]["path"] == f"/episodes/3/{name}"


def test_attributes_whose_keys_would_become_one_are_refused() -> None:
    with pytest.raises(Invalid, match="two keys"):
        normalise(replace(GOOD, attributes={"a\x00": 1, "a\ud800": 2}))
