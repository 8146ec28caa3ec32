"""From episodes to candidates: asking for it, and the job that does it."""

from collections.abc import Sequence

from skillhub.curation.draft import Draft
from skillhub.curation.extract import extract, extract_rules
from skillhub.errors import Invalid
from skillhub.models import Job
from skillhub.rollouts.trace import Trace
from skillhub.services import candidates, episodes
from skillhub.services.candidates import CandidateInput, EvidenceInput
from skillhub.services.jobs import Claim
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.store import candidates as rows
from skillhub.store import skills, versions

SKILLS_JOB = "curation.extract_skills"
RULES_JOB = "curation.extract_rules"
PROPOSER = "extract"
LEAST_EPISODES = 3
"""Independent successful episodes a draft must rest on: one poisoned episode must not make a candidate."""


def request_extraction(scope: Scope, *, slices: Sequence[str], split: str) -> list[Job]:
    """A job for each slice, and one for the rules that hold across them where there are several."""
    names = list(dict.fromkeys(slices))
    with scope.transaction() as unit:
        jobs = [unit.enqueue(SKILLS_JOB, slices=[name], split=split) for name in names]
        return jobs if len(names) < 2 else [*jobs, unit.enqueue(RULES_JOB, slices=names, split=split)]


def run_skills(claim: Claim) -> None:
    """The job: read the episodes of a slice and propose the skill they share."""
    successes, failures = _episodes(claim)
    _propose(claim, extract(successes, failures), successes)


def run_rules(claim: Claim) -> None:
    """The job: read the episodes of several slices and propose the rules they share."""
    successes, _ = _episodes(claim)
    _propose(claim, extract_rules(successes), successes)


def _episodes(claim: Claim) -> tuple[list[Trace], list[Trace]]:
    """Successful and failed episodes of the job's slices."""
    split = claim.payload["split"]
    traces = [trace for name in claim.payload["slices"] for trace in episodes.traces(claim.scope, slice=name, split=split)]
    successes = [trace for trace in traces if trace.success]
    claim.log(f"{len(successes)} of {len(traces)} episodes were successful")
    return successes, [trace for trace in traces if not trace.success]


def _propose(claim: Claim, drafts: Sequence[Draft], successes: Sequence[Trace]) -> None:
    """Propose what is new and well founded, in the job's one effect."""
    founded = [draft for draft in drafts if _is_founded(draft, successes, claim)]
    with claim.effect() as unit:
        proposed = [_propose_in(unit, draft, claim) for draft in founded]
        claim.result["candidate_ids"] = [candidate_id for candidate_id in proposed if candidate_id]


def _is_founded(draft: Draft, successes: Sequence[Trace], claim: Claim) -> bool:
    """Whether enough verified successes stand behind a draft. An episode recorded twice counts once."""
    runs = {trace.episode_id: (trace.task, trace.steps) for trace in successes}
    behind = {runs[i] for part in draft.claims if part.polarity > 0 for i in part.episode_ids if i in runs}
    if len(behind) < LEAST_EPISODES:
        claim.log(f"skipped {draft.kind} {draft.name}: {len(behind)} independent episodes, {LEAST_EPISODES} needed")
        return False
    return True


def _propose_in(unit: Unit, draft: Draft, claim: Claim) -> str | None:
    """Id of the new candidate; None where it would say nothing new, or where odd texts of the episodes made it invalid."""
    current = versions.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=draft.name, label=PRODUCTION)
    if why := _not_new(unit, draft, current):
        claim.log(f"skipped {draft.kind} {draft.name}: {why}")
        return None
    evidence = tuple(
        EvidenceInput(part.anchor, part.text, part.polarity, part.weight, part.episode_ids) for part in draft.claims
    )
    item = CandidateInput(
        skill_name=draft.name,
        kind=draft.kind,
        target_slice=draft.slice,
        proposer=PROPOSER,
        document=draft.document,
        base=current.number if current else None,
        rationale=draft.rationale,
        evidence=evidence,
    )
    try:
        return candidates.propose_in(unit, item).id
    except Invalid as error:
        claim.log(f"skipped {draft.kind} {draft.name}: {error}")
        return None


def _not_new(unit: Unit, draft: Draft, current: versions.Version | None) -> str | None:
    skill = skills.named(unit.session, workspace_id=unit.workspace_id, name=draft.name)
    if skill is not None and skill.state == "retired":
        return "the skill is retired"
    if skill is not None and skill.kind != draft.kind:
        return f"the name belongs to a {skill.kind}"
    sha256 = candidates.would_be_sha256(unit, document=draft.document, base=current)
    if current is not None and current.content_sha256 == sha256:
        return f"identical to {PRODUCTION}"
    twin = rows.same_content(unit.session, workspace_id=unit.workspace_id, skill_name=draft.name, content_sha256=sha256)
    return f"identical to candidate {twin.id} ({twin.state})" if twin else None
