"""Recorded episodes as they come in: checked, cleaned, or refused with the path of the bad field.

Values in, values out. Scores are fractions: 1.5 is refused, never read as 0.015.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skillhub.errors import Invalid
from skillhub.rollouts.trace import TraceStep
from skillhub.safety.text import storable

MAX_NAME = 200
MAX_TEXT = 200_000
MAX_STEPS = 5_000
MAX_EXPOSURES = 200
MAX_EPISODE_CHARACTERS = 4_000_000
MAX_ATTRIBUTES_CHARACTERS = 64_000
MAX_ATTRIBUTES_DEPTH = 8

Redact = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class ExposureInput:
    """A version, or a candidate under trial, that the policy was shown. Exactly one of the two ids is set."""

    version_id: str | None = None
    candidate_id: str | None = None
    rank: int
    score: float
    """Score of the retrieval that chose it; any finite number."""
    from_step: int = 0


@dataclass(frozen=True, kw_only=True)
class EpisodeInput:
    """One rollout as its recorder tells it."""

    key: str
    """The recorder's own id; the same key is stored once."""
    environment: str
    task: str
    slice: str
    split: str = ""
    policy: str = ""
    seed: int | None = None
    score: float
    """Outcome in [0, 1]."""
    success: bool
    context_id: str | None = None
    trial_id: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[TraceStep, ...] = ()
    exposures: tuple[ExposureInput, ...] = ()


@dataclass(frozen=True)
class _Place:
    """Where in the input we are, for the error that names it."""

    key: str
    path: str

    def at(self, part: str | int) -> "_Place":
        return _Place(self.key, f"{self.path}/{part}")

    def refused(self, why: str) -> Invalid:
        return Invalid(f"episode {self.key!r}, {self.path}: {why}", path=self.path)


def normalise(item: EpisodeInput, *, path: str, redact: Redact) -> EpisodeInput:
    """The episode as it may be stored: texts storable and redacted, numbers finite and in range; else Invalid.

    `path` is the place of the episode in the request, e.g. `/episodes/3`.
    """
    place = _Place(str(item.key)[:MAX_NAME], path)
    names = {name: _name(getattr(item, name), place.at(name)) for name in ("environment", "split", "policy")}
    required = {name: _filled(getattr(item, name), place.at(name)) for name in ("key", "slice")}
    clean = replace(
        item,
        **names,
        **required,
        task=redact(_text(item.task, place.at("task"), limit=MAX_TEXT)),
        seed=None if item.seed is None else _whole(item.seed, place.at("seed"), bits=64),
        score=_fraction(item.score, place.at("score")),
        attributes=_attributes(item.attributes, place.at("attributes"), redact),
        steps=_steps(item.steps, place.at("steps"), redact),
        exposures=_exposures(item.exposures, place.at("exposures"), steps=len(item.steps)),
    )
    if sum(len(step.observation) + len(step.action) for step in clean.steps) > MAX_EPISODE_CHARACTERS:
        raise place.at("steps").refused(f"more than {MAX_EPISODE_CHARACTERS} characters in all steps together")
    return clean


def _steps(steps: tuple[TraceStep, ...], place: _Place, redact: Redact) -> tuple[TraceStep, ...]:
    if len(steps) > MAX_STEPS:
        raise place.refused(f"more than {MAX_STEPS} steps")
    return tuple(_step(step, place.at(index), redact) for index, step in enumerate(steps))


def _step(step: TraceStep, place: _Place, redact: Redact) -> TraceStep:
    return TraceStep(
        observation=redact(_text(step.observation, place.at("observation"), limit=MAX_TEXT)),
        action=redact(_text(step.action, place.at("action"), limit=MAX_TEXT)),
        reward=_finite(step.reward, place.at("reward")),
        score=_fraction(step.score, place.at("score")),
    )


def _exposures(exposures: tuple[ExposureInput, ...], place: _Place, *, steps: int) -> tuple[ExposureInput, ...]:
    if len(exposures) > MAX_EXPOSURES:
        raise place.refused(f"more than {MAX_EXPOSURES} exposures")
    return tuple(_exposure(exposure, place.at(index), steps=steps) for index, exposure in enumerate(exposures))


def _exposure(exposure: ExposureInput, place: _Place, *, steps: int) -> ExposureInput:
    if (exposure.version_id is None) == (exposure.candidate_id is None):
        raise place.refused("name either a version_id or a candidate_id")
    if not 0 <= exposure.from_step <= steps:
        raise place.at("from_step").refused(f"{exposure.from_step} is not one of the {steps} steps")
    rank = _whole(exposure.rank, place.at("rank"), bits=32)
    return replace(exposure, rank=rank, score=_finite(exposure.score, place.at("score")))


def _attributes(attributes: Mapping[str, Any], place: _Place, redact: Redact) -> dict[str, Any]:
    clean = _json(dict(attributes), place, depth=0, redact=redact)
    if len(json.dumps(clean, ensure_ascii=False)) > MAX_ATTRIBUTES_CHARACTERS:
        raise place.refused(f"longer than {MAX_ATTRIBUTES_CHARACTERS} characters")
    return clean


def _json(value: Any, place: _Place, *, depth: int, redact: Redact) -> Any:
    """The same JSON value with clean texts; every leaf is checked."""
    if depth > MAX_ATTRIBUTES_DEPTH:
        raise place.refused(f"nested deeper than {MAX_ATTRIBUTES_DEPTH} levels")
    if isinstance(value, Mapping):
        clean_keys = [(_text(key, place, limit=MAX_NAME), item) for key, item in value.items()]
        if len(dict(clean_keys)) < len(value):
            raise place.refused("two keys are the same once what cannot be stored is replaced")
        return {key: _json(item, place.at(key), depth=depth + 1, redact=redact) for key, item in clean_keys}
    if isinstance(value, list | tuple):
        return [_json(item, place.at(index), depth=depth + 1, redact=redact) for index, item in enumerate(value)]
    if isinstance(value, str):
        return redact(_text(value, place, limit=MAX_TEXT))
    if isinstance(value, float):
        return _finite(value, place)
    if value is None or isinstance(value, int):
        return value
    raise place.refused(f"{type(value).__name__} is not a JSON value")


def _text(value: Any, place: _Place, *, limit: int) -> str:
    if not isinstance(value, str):
        raise place.refused("not a text")
    if len(value) > limit:
        raise place.refused(f"{len(value)} characters, more than {limit}")
    return storable(value)


def _name(value: Any, place: _Place) -> str:
    """A text that tells things apart, so never mended: two of them could become one."""
    if _text(value, place, limit=MAX_NAME) != value:
        raise place.refused("a NUL character or half a surrogate pair cannot be stored")
    return value


def _filled(value: Any, place: _Place) -> str:
    text = _name(value, place)
    if not text.strip():
        raise place.refused("must not be empty")
    return text


def _finite(value: Any, place: _Place) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise place.refused(f"{value!r} is not a finite number")
    return float(value)


def _fraction(value: Any, place: _Place) -> float:
    number = _finite(value, place)
    if not 0.0 <= number <= 1.0:
        raise place.refused(f"{value!r} is not in [0, 1]")
    return number


def _whole(value: Any, place: _Place, *, bits: int) -> int:
    if not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise place.refused(f"{value!r} is not a whole number of {bits} bits")
    return value
