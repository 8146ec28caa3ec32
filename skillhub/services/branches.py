"""Branches: named lines of candidates on a skill. A line grows freely; only the gate brings what it made into production.

A branch starts at a version. Each candidate on it goes on from the one before. Merging puts the newest of them together with
what production became meanwhile, three-way; the result is the next candidate on the line, ready for the gate.
"""

from dataclasses import dataclass, replace
from typing import Any

from skillhub import documents
from skillhub.documents.archive import Content
from skillhub.documents.merge import merge as merge_contents
from skillhub.documents.sections import sentences, states
from skillhub.errors import Conflict, NotFound
from skillhub.ids import new_id
from skillhub.models import Branch, Candidate, Skill, Version
from skillhub.models.base import now
from skillhub.services import candidates, skills
from skillhub.services.candidates import CandidateInput, CandidateView, EvidenceInput
from skillhub.services.labels import LATEST, PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.versions import content_in
from skillhub.store import branches as rows
from skillhub.store import candidates as candidate_rows
from skillhub.store import labels, versions
from skillhub.store.keyset import Start

NEWEST = Start("-created_at")


@dataclass(frozen=True)
class BranchView:
    """A branch with the names a reader knows it by."""

    branch: Branch
    skill: Skill
    base: Version


def create(scope: Scope, *, skill: str, name: str, base: int | None = None) -> BranchView:
    """A branch from version `base`, else from what is in production (the newest version where nothing is).

    Errors: NotFound; Conflict where the name is taken, on a retired skill, for a version that is held back.
    """
    with scope.transaction() as unit:
        owner = skills.lock_in(unit, skill)
        if rows.named(unit.session, skill_id=owner.id, name=name) is not None:
            raise Conflict(f"the skill {owner.name!r} has a branch {name!r} already")
        start = _current_in(unit, owner) if base is None else skills.numbered_in(unit, owner, base)
        skills.check_served_in(unit, owner, start)
        facts = {"workspace_id": unit.workspace_id, "created_by": scope.actor}
        branch = Branch(id=new_id("brn"), skill_id=owner.id, name=name, base_version_id=start.id, **facts)
        _save(unit, branch)
        unit.record("branch.created", branch.id, skill=owner.name, branch=name, base_version_id=start.id)
        return BranchView(branch, owner, start)


def get(scope: Scope, *, skill: str, name: str) -> BranchView:
    with scope.transaction() as unit:
        owner = skills.get_in(unit, skill)
        return _view(unit, owner, _named_in(unit, owner, name))


def page(scope: Scope, start: Start = NEWEST, *, skill: str, state: str | None = None) -> list[BranchView]:
    """Branches of a skill by `state`."""
    with scope.transaction() as unit:
        owner = skills.get_in(unit, skill)
        return [_view(unit, owner, branch) for branch in rows.page(unit.session, skill_id=owner.id, start=start, state=state)]


def propose(scope: Scope, *, skill: str, name: str, head: str | None, **facts: Any) -> CandidateView:
    """The next candidate on a branch; `facts` are those of `CandidateInput`, operations against the head's document.

    `head` is the id of the newest candidate that the caller has read, None before the first.
    Errors: NotFound, Invalid; Conflict where the head moved meanwhile, and on a closed branch.
    """
    with scope.transaction() as unit:
        owner, branch = _open_in(unit, skill, name)
        if head != branch.head_id:
            raise Conflict(f"the head of the branch is {branch.head_id}, not {head}")
        base = versions.get(unit.session, branch.base_version_id)
        item = CandidateInput(skill_name=owner.name, kind=owner.kind, base=base.number, **facts)
        return _append_in(unit, branch, item)


def merge(scope: Scope, *, skill: str, name: str, proposer: str, rationale: str = "") -> CandidateView:
    """The head put together with what production is now: the next candidate on the branch, with its evidence that still holds.

    Where production has not moved since, the head is that already.
    Errors: NotFound; MergeConflict; Conflict where there is nothing to merge, and on a closed branch.
    """
    with scope.transaction() as unit:
        owner, branch = _open_in(unit, skill, name)
        if branch.head_id is None:
            raise Conflict(f"there is no candidate on the branch {name!r}")
        current, head = _current_in(unit, owner), candidate_rows.get(unit.session, branch.head_id)
        if current.id == branch.base_version_id:
            return candidates.view_in(unit, head)
        item = _merged_in(unit, owner, branch, current=current, head=head)
        branch.base_version_id = current.id
        return _append_in(unit, branch, replace(item, proposer=proposer, rationale=rationale or item.rationale))


def close(scope: Scope, *, skill: str, name: str) -> BranchView:
    """No more candidates on this branch. Closing twice changes nothing."""
    with scope.transaction() as unit:
        owner = skills.get_in(unit, skill)
        branch = _named_in(unit, owner, name, lock=True)
        if branch.state != "closed":
            branch.state, branch.closed_at = "closed", now()
            _save(unit, branch)
            unit.record("branch.closed", branch.id, skill=owner.name, branch=name)
        return _view(unit, owner, branch)


def _merged_in(unit: Unit, skill: Skill, branch: Branch, *, current: Version, head: Candidate) -> CandidateInput:
    base = versions.get(unit.session, branch.base_version_id)
    ours, was = content_in(unit, current), content_in(unit, base)
    content = merge_contents(was, ours, Content(head.document, was.files))
    return CandidateInput(
        skill_name=skill.name,
        kind=skill.kind,
        target_slice=head.target_slice,
        proposer=head.proposer,
        document=content.document,
        base=current.number,
        rationale=f"Branch {branch.name} merged with version {current.number}",
        evidence=_evidence_in(unit, head, content.document),
    )


def _evidence_in(unit: Unit, head: Candidate, document: str) -> tuple[EvidenceInput, ...]:
    """What the candidates up to the head rest on, as far as the document still says it."""
    line = candidate_rows.line(unit.session, head.id)
    said = [sentence.text for sentence in sentences(documents.parse(document))]
    claims = [pair for found in candidate_rows.evidence(unit.session, line).values() for pair in found]
    kept = {
        EvidenceInput(row.anchor, row.claim, row.polarity, row.weight, tuple(episode_ids)): None
        for row, episode_ids in claims
        if any(states(text, row.claim) for text in said)
    }
    return tuple(kept)


def _append_in(unit: Unit, branch: Branch, item: CandidateInput) -> CandidateView:
    candidate = candidates.propose_in(unit, item, branch=branch)
    branch.head_id = candidate.id
    _save(unit, branch)
    return candidates.view_in(unit, candidate)


def _open_in(unit: Unit, skill: str, name: str) -> tuple[Skill, Branch]:
    """The skill and its branch, which is locked, not the skill: what is done on a branch may take a while."""
    owner = skills.get_in(unit, skill)
    if owner.state == "retired":
        raise Conflict(f"the skill {owner.name!r} is retired")
    branch = _named_in(unit, owner, name, lock=True)
    if branch.state == "closed":
        raise Conflict(f"the branch {name!r} is closed")
    return owner, branch


def _named_in(unit: Unit, skill: Skill, name: str, *, lock: bool = False) -> Branch:
    branch = rows.named(unit.session, skill_id=skill.id, name=name, lock=lock)
    if branch is None:
        raise NotFound(f"the skill {skill.name!r} has no branch {name!r}")
    return branch


def _current_in(unit: Unit, skill: Skill) -> Version:
    """What a candidate of the skill would replace."""
    found = [labels.get(unit.session, skill_id=skill.id, name=name) for name in (PRODUCTION, LATEST)]
    label = next(label for label in found if label is not None)
    return versions.get(unit.session, label.version_id)


def _view(unit: Unit, skill: Skill, branch: Branch) -> BranchView:
    return BranchView(branch, skill, versions.get(unit.session, branch.base_version_id))


def _save(unit: Unit, branch: Branch) -> None:
    unit.session.add(branch)
    unit.session.flush()
