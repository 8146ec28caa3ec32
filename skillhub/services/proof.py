"""What a person needs to see to believe a skill: read for the web view, each page in one transaction."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from skillhub.errors import NotFound
from skillhub.models import Candidate, Episode, Exposure, Gate, Step, Trial, Version
from skillhub.services import candidates, labels, lineage, skills
from skillhub.services.candidates import CandidateView
from skillhub.services.lineage import Origin
from skillhub.services.scope import Scope, Unit
from skillhub.store import episodes as episode_rows
from skillhub.store import gates
from skillhub.store import lineage as rows
from skillhub.store import versions as version_rows
from skillhub.store.keyset import Start

HISTORY = 100


@dataclass(frozen=True)
class SkillProof:
    """A version of a skill, sentence by sentence, with everything that was proposed for the skill."""

    view: skills.SkillView
    version: Version
    origins: list[Origin]
    history: Sequence[Version]
    """Newest first, up to `HISTORY`."""
    candidates: Sequence[Candidate]
    """Newest first."""
    episodes: dict[str, Episode]
    """Those behind the evidence, by id."""


@dataclass(frozen=True)
class Pair:
    """Base and candidate on one case."""

    number: int
    case_key: str
    slice: str
    seed: int
    base: Trial | None
    candidate: Trial | None

    @property
    def d(self) -> float | None:
        """Candidate minus base; None while one is missing."""
        if self.base is None or self.candidate is None or self.base.score is None or self.candidate.score is None:
            return None
        return self.candidate.score - self.base.score


@dataclass(frozen=True)
class CandidateProof:
    """A candidate, what it would change, and how it fared."""

    view: CandidateView
    gate: Gate | None
    pairs: list[Pair]
    diff: list[str]
    """Unified diff against the base, without its file header; the whole document where there is none."""
    base: rows.Shown | None
    published: rows.Shown | None
    episodes: dict[str, Episode]


@dataclass(frozen=True)
class EpisodeProof:
    """An episode, its steps, and what was shown in it."""

    episode: Episode
    steps: Sequence[Step]
    exposures: Sequence[Exposure]
    shown: dict[str, rows.Shown]
    """By version id."""


def of_skill(scope: Scope, *, name: str, number: int | None) -> SkillProof:
    """Version `number`, or the one in production, or the newest where none is."""
    with scope.transaction() as unit:
        view = skills.view_in(unit, name)
        version = _chosen(unit, view, number)
        origins = lineage.blame_in(unit, version)
        wanted = {id_ for origin in origins for _, episode_ids in origin.evidence for id_ in episode_ids}
        proposed = rows.candidates(unit.session, workspace_id=unit.workspace_id, skill_name=view.skill.name)
        return SkillProof(
            view=view,
            version=version,
            origins=origins,
            history=version_rows.history(unit.session, skill_id=view.skill.id, start=Start("-number", limit=HISTORY)),
            candidates=proposed[::-1],
            episodes=rows.episodes(unit.session, wanted),
        )


def of_candidate(scope: Scope, candidate_id: str) -> CandidateProof:
    view = candidates.get(scope, candidate_id)
    with scope.transaction() as unit:
        candidate, decision = view.candidate, view.decision
        gate = gates.get(unit.session, view.gate_id) if view.gate_id else None
        published = decision.version_id if decision else None
        shown = rows.shown(unit.session, [id_ for id_ in (candidate.base_version_id, published) if id_])
        base = shown.get(candidate.base_version_id)
        return CandidateProof(
            view=view,
            gate=gate,
            pairs=_pairs(rows.runs(unit.session, gate_id=gate.id)) if gate else [],
            diff=_diff(base.version.document, candidate.document) if base else candidate.document.splitlines(),
            base=base,
            published=shown.get(published),
            episodes=rows.episodes(unit.session, {id_ for _, ids in view.evidence for id_ in ids}),
        )


def of_episode(scope: Scope, episode_id: str) -> EpisodeProof:
    with scope.transaction() as unit:
        episode = episode_rows.get(unit.session, workspace_id=unit.workspace_id, episode_id=episode_id)
        if episode is None:
            raise NotFound(f"there is no episode {episode_id!r}")
        exposures = episode_rows.exposures(unit.session, episode_id)
        ids = [exposure.version_id for exposure in exposures if exposure.version_id]
        steps = episode_rows.steps(unit.session, [episode_id])
        return EpisodeProof(episode, steps, exposures, rows.shown(unit.session, ids))


def _chosen(unit: Unit, view: skills.SkillView, number: int | None) -> Version:
    if number is None:
        number = view.labels.get(labels.PRODUCTION, view.skill.last_number)
    return skills.numbered_in(unit, view.skill, number)


def _pairs(runs: Sequence[rows.Run]) -> list[Pair]:
    arms: dict[int, dict[str, rows.Run]] = {}
    for run in runs:
        arms.setdefault(run.trial.pair, {})[run.trial.arm] = run
    return [_pair(number, found) for number, found in arms.items()]


def _pair(number: int, arms: dict[str, rows.Run]) -> Pair:
    any_run = next(iter(arms.values()))
    base, candidate = (arms[arm].trial if arm in arms else None for arm in ("base", "candidate"))
    return Pair(number, any_run.case.key, any_run.case.slice, any_run.trial.seed, base, candidate)


def _diff(before: str, after: str) -> list[str]:
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))[2:]
