"""Proposing and reading candidates: proposed versions with the evidence they rest on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillhub import documents
from skillhub.documents import edits
from skillhub.documents.sections import sentences, states
from skillhub.documents.skillmd import Document
from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.ids import new_id
from skillhub.models import Branch, Candidate, Decision, Evidence, Version
from skillhub.safety import publication
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.skills import KINDS
from skillhub.services.versions import content_sha256
from skillhub.store import candidates as rows
from skillhub.store import gates, skills, versions
from skillhub.store.keyset import Start

NEWEST = Start("-created_at")


@dataclass(frozen=True)
class EvidenceInput:
    """A claim about one sentence of the proposed document."""

    anchor: str
    claim: str
    polarity: int = 1
    weight: float = 1.0
    episode_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CandidateInput:
    """A proposed version: a whole document, edit operations against a base, or both where they agree."""

    skill_name: str
    kind: str
    target_slice: str
    proposer: str
    document: str | None = None
    base: int | None = None
    """Number of the version it would replace; none where the skill is new."""
    operations: tuple[Mapping[str, Any], ...] = ()
    rationale: str = ""
    evidence: tuple[EvidenceInput, ...] = ()


@dataclass(frozen=True)
class CandidateView:
    """A candidate with what belongs to it."""

    candidate: Candidate
    evidence: Sequence[tuple[Evidence, list[str]]]
    gate_id: str | None
    decision: Decision | None


def propose(scope: Scope, item: CandidateInput) -> CandidateView:
    """Store a candidate. Errors: Invalid; NotFound for an unknown base; Conflict where it would change nothing."""
    with scope.transaction() as unit:
        return view_in(unit, propose_in(unit, item))


def propose_in(unit: Unit, item: CandidateInput, *, branch: Branch | None = None) -> Candidate:
    """Store a candidate inside a running transaction; on a branch after its head, against which its operations are."""
    if item.kind not in KINDS:
        raise Invalid(f"{item.kind!r} is not a kind; known are {', '.join(KINDS)}", path="/kind")
    name = documents.canonical_name(item.skill_name)
    base = _base_in(unit, item, name)
    head = rows.get(unit.session, branch.head_id) if branch and branch.head_id else None
    document = _document(item, head or base)
    publication.check(document)
    _check_claims(documents.parse(document, name=name), item.evidence)
    sha256 = would_be_sha256(unit, document=document, base=base)
    current = versions.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=name, label=PRODUCTION)
    if current is not None and current.content_sha256 == sha256:
        raise Conflict(f"the candidate is identical to {name!r} in {PRODUCTION}")
    if head is not None and head.content_sha256 == sha256:
        raise Conflict("the candidate is identical to the one before it on the branch")
    _check_episodes(unit, item.evidence)
    candidate = Candidate(
        id=new_id("can"),
        workspace_id=unit.workspace_id,
        skill_name=name,
        kind=item.kind,
        base_version_id=base.id if base else None,
        branch_id=branch.id if branch else None,
        previous_id=head.id if head else None,
        operations=[dict(operation) for operation in item.operations],
        document=document,
        content_sha256=sha256,
        proposer=item.proposer,
        rationale=item.rationale,
        target_slice=item.target_slice,
    )
    rows.insert(unit.session, candidate, _evidence(candidate, item.evidence))
    unit.record("candidate.proposed", candidate.id, skill=name, proposer=item.proposer, target_slice=item.target_slice)
    return candidate


def would_be_sha256(unit: Unit, *, document: str, base: Version | None) -> str:
    """Content address of the version that would be published: the new document with the base's files."""
    return content_sha256(document, versions.files(unit.session, base.id) if base else ())


def get(scope: Scope, candidate_id: str) -> CandidateView:
    with scope.transaction() as unit:
        return view_in(unit, get_in(unit, candidate_id))


def page(scope: Scope, start: Start = NEWEST, **filters: Any) -> list[CandidateView]:
    """Candidates by `state`, `target_slice`, `skill_name`, `kind`, `proposer`, `branch_id` and time."""
    with scope.transaction() as unit:
        return _views(unit, rows.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters))


def view_in(unit: Unit, candidate: Candidate) -> CandidateView:
    return _views(unit, [candidate])[0]


def get_in(unit: Unit, candidate_id: str) -> Candidate:
    candidate = rows.get(unit.session, candidate_id)
    if candidate is None:
        raise NotFound(f"there is no candidate {candidate_id!r}")
    return candidate


def _base_in(unit: Unit, item: CandidateInput, name: str) -> Version | None:
    skill = skills.named(unit.session, workspace_id=unit.workspace_id, name=name)
    if skill is not None and skill.state == "retired":
        raise Conflict(f"the skill {name!r} is retired")
    if skill is not None and skill.kind != item.kind:
        raise Conflict(f"{name!r} is a {skill.kind}, not a {item.kind}")
    if item.base is None:
        return None
    found = versions.numbered(unit.session, skill_id=skill.id, number=item.base) if skill else None
    if found is None:
        raise NotFound(f"the skill {name!r} has no version {item.base}")
    return found


def _document(item: CandidateInput, base: Version | Candidate | None) -> str:
    if not item.operations:
        if item.document is None:
            raise Invalid("send a document, or operations against a base", path="/document")
        return item.document
    if base is None:
        raise Invalid("operations need a base", path="/base")
    edited = edits.apply(base.document, item.operations)
    if item.document is not None and item.document != edited:
        raise Invalid("the document is not what the operations make of the base", path="/document")
    return edited


def _check_claims(document: Document, evidence: Iterable[EvidenceInput]) -> None:
    """Invalid for a claim that blame could never show, because no sentence says it."""
    said = [sentence.text for sentence in sentences(document)]
    for index, item in enumerate(evidence):
        if not any(states(text, item.claim) for text in said):
            why = "no sentence of the document says this; numbers and bullets of a list are not part of the sentence"
            raise Invalid(f"{item.claim!r}: {why}", path=f"/evidence/{index}/claim")


def _check_episodes(unit: Unit, evidence: Iterable[EvidenceInput]) -> None:
    wanted = {episode_id: index for index, item in enumerate(evidence) for episode_id in item.episode_ids}
    known = rows.known_episodes(unit.session, workspace_id=unit.workspace_id, ids=wanted)
    for episode_id, index in wanted.items():
        if episode_id not in known:
            raise Invalid(f"there is no episode {episode_id!r}", path=f"/evidence/{index}/episode_ids")


def _evidence(candidate: Candidate, items: Iterable[EvidenceInput]) -> Iterable[tuple[Evidence, tuple[str, ...]]]:
    for item in items:
        row = Evidence(
            id=new_id("evi"),
            workspace_id=candidate.workspace_id,
            candidate_id=candidate.id,
            anchor=item.anchor,
            claim=item.claim,
            polarity=item.polarity,
            weight=item.weight,
        )
        yield row, item.episode_ids


def _views(unit: Unit, found: Sequence[Candidate]) -> list[CandidateView]:
    ids = [candidate.id for candidate in found]
    evidence = rows.evidence(unit.session, ids)
    gate_ids = gates.ids_by_candidate(unit.session, ids)
    decisions = gates.decisions(unit.session, ids)
    return [
        CandidateView(candidate, evidence.get(candidate.id, []), gate_ids.get(candidate.id), decisions.get(candidate.id))
        for candidate in found
    ]
