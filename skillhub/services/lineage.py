"""The circle read backwards: which versions, candidates, decisions, evidence and episodes a skill stands on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from skillhub import documents
from skillhub.documents.sections import Sentence, normalised, sentences, states
from skillhub.models import Candidate, Decision, Episode, Evidence, Version
from skillhub.services import skills
from skillhub.services.scope import Scope, Unit
from skillhub.store import candidates as candidate_rows
from skillhub.store import gates
from skillhub.store import lineage as rows
from skillhub.store import versions as version_rows

Claims = list[tuple[Evidence, list[str]]]
"""Evidence, each with the ids of its episodes."""


@dataclass(frozen=True)
class Graph:
    """Nodes are `{id, type, ...}`, edges `{source, target, relation}`; every edge points backwards in time."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, str]] = field(default_factory=list)

    def node(self, type_: str, id_: str, **facts: Any) -> None:
        self.nodes.append({"id": id_, "type": type_, **facts})

    def edge(self, source: str, target: str, relation: str) -> None:
        self.edges.append({"source": source, "target": target, "relation": relation})


@dataclass(frozen=True)
class Origin:
    """A sentence of a version, and the proof it was let in on."""

    sentence: Sentence
    introduced_in: Version
    """The earliest version, back along the parents, that has held it ever since."""
    candidate: Candidate | None
    """None where a person published the sentence."""
    decision: Decision | None
    evidence: Claims


def graph(scope: Scope, name: str) -> Graph:
    """Everything a skill came from: its versions, all candidates for it whatever their verdict, and what they rest on."""
    found = Graph()
    with scope.transaction() as unit:
        skill = skills.get_in(unit, name)
        versions = rows.versions(unit.session, skill_id=skill.id)
        _add_versions(unit, found, versions)
        candidates = rows.candidates(unit.session, workspace_id=unit.workspace_id, skill_name=skill.name)
        _add_candidates(unit, found, candidates)
    return found


def blame(scope: Scope, *, name: str, number: int) -> list[Origin]:
    """For each sentence of a version: since which version it stands there, and on what proof."""
    with scope.transaction() as unit:
        return blame_in(unit, skills.numbered_in(unit, skills.get_in(unit, name), number))


def blame_in(unit: Unit, version: Version) -> list[Origin]:
    """The same inside a running transaction."""
    ancestry = _Ancestry(unit)
    pairs = [(sentence, ancestry.origin(version, sentence)) for sentence in sentences(documents.parse(version.document))]
    ids = {origin.candidate_id for _, origin in pairs if origin.candidate_id}
    claims = candidate_rows.evidence(unit.session, ids)
    decisions = gates.decisions(unit.session, ids)
    candidates = {id_: candidate_rows.get(unit.session, id_) for id_ in ids}
    return [
        Origin(
            sentence=sentence,
            introduced_in=origin,
            candidate=candidates.get(origin.candidate_id),
            decision=decisions.get(origin.candidate_id),
            evidence=[claim for claim in claims.get(origin.candidate_id, []) if states(sentence.text, claim[0].claim)],
        )
        for sentence, origin in pairs
    ]


class _Ancestry:
    """Versions and what they say, read as the search for an origin gets to them."""

    def __init__(self, unit: Unit) -> None:
        self.session = unit.session
        self.said: dict[str, frozenset[str]] = {}
        self.above: dict[str, list[Version]] = {}

    def origin(self, version: Version, sentence: Sentence) -> Version:
        """Follow the first parent that already says it, until none does."""
        words = normalised(sentence.text)
        while older := next((parent for parent in self.parents(version) if words in self.sentences(parent)), None):
            version = older
        return version

    def parents(self, version: Version) -> list[Version]:
        if version.id not in self.above:
            edges = version_rows.parents(self.session, version_ids=[version.id])
            self.above[version.id] = [version_rows.get(self.session, edge.parent_id) for edge in edges]
        return self.above[version.id]

    def sentences(self, version: Version) -> frozenset[str]:
        if version.id not in self.said:
            found = sentences(documents.parse(version.document))
            self.said[version.id] = frozenset(normalised(sentence.text) for sentence in found)
        return self.said[version.id]


def _add_versions(unit: Unit, found: Graph, versions: list[Version]) -> None:
    for version in versions:
        found.node(
            "version",
            version.id,
            number=version.number,
            content_sha256=version.content_sha256,
            message=version.message,
            created_by=version.created_by,
            created_at=version.created_at,
        )
        if version.candidate_id:
            found.edge(version.id, version.candidate_id, "published_from")
    for parent in version_rows.parents(unit.session, version_ids=[version.id for version in versions]):
        found.edge(parent.version_id, parent.parent_id, parent.relation)


def _add_candidates(unit: Unit, found: Graph, candidates: list[Candidate]) -> None:
    ids = [candidate.id for candidate in candidates]
    for candidate in candidates:
        found.node(
            "candidate",
            candidate.id,
            state=candidate.state,
            proposer=candidate.proposer,
            target_slice=candidate.target_slice,
            rationale=candidate.rationale,
            created_at=candidate.created_at,
        )
        if candidate.base_version_id:
            found.edge(candidate.id, candidate.base_version_id, "based_on")
        if candidate.previous_id:
            found.edge(candidate.id, candidate.previous_id, "continues")
    for decision in gates.decisions(unit.session, ids).values():
        _add_decision(found, decision)
    claims = [claim for group in candidate_rows.evidence(unit.session, ids).values() for claim in group]
    _add_evidence(found, claims)
    _add_episodes(unit, found, {episode_id for _, episode_ids in claims for episode_id in episode_ids})


def _add_decision(found: Graph, decision: Decision) -> None:
    found.node(
        "decision",
        decision.id,
        verdict=decision.verdict,
        reason=decision.reason,
        numbers=decision.numbers,
        gate_id=decision.gate_id,
        created_at=decision.created_at,
    )
    found.edge(decision.id, decision.candidate_id, "decided")


def _add_evidence(found: Graph, claims: Claims) -> None:
    for row, episode_ids in claims:
        facts = {"anchor": row.anchor, "claim": row.claim, "polarity": row.polarity, "weight": row.weight, "state": row.state}
        found.node("evidence", row.id, **facts)
        found.edge(row.candidate_id, row.id, "rests_on")
        for episode_id in episode_ids:
            found.edge(row.id, episode_id, "drawn_from")


def _add_episodes(unit: Unit, found: Graph, ids: set[str]) -> None:
    for episode in _sorted(rows.episodes(unit.session, ids)):
        facts = {"key": episode.key, "slice": episode.slice, "split": episode.split, "score": episode.score}
        found.node("episode", episode.id, **facts, success=episode.success, created_at=episode.created_at)


def _sorted(episodes: dict[str, Episode]) -> Iterator[Episode]:
    return (episodes[id_] for id_ in sorted(episodes))
