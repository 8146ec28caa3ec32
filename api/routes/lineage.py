"""Where a skill, and each of its sentences, comes from."""

from typing import Annotated

from fastapi import APIRouter, Path

from api.deps import ScopeDep
from api.schemas.skills import (
    MAX_NUMBER,
    BlamedDecisionOut,
    BlamedEvidenceOut,
    BlamedSentenceOut,
    BlameOut,
    LineageOut,
)
from skillhub.services import lineage

router = APIRouter(prefix="/v1/skills", tags=["lineage"])


@router.get("/{name}/lineage")
def get_lineage(name: str, scope: ScopeDep) -> LineageOut:
    """All versions, candidates, decisions, evidence and episodes of a skill, and the edges between them."""
    graph = lineage.graph(scope, name)
    return LineageOut(nodes=graph.nodes, edges=graph.edges)


@router.get("/{name}/versions/{number}/blame")
def get_blame(name: str, number: Annotated[int, Path(ge=1, le=MAX_NUMBER)], scope: ScopeDep) -> BlameOut:
    """Each sentence of a version with the version, candidate, decision and evidence it came from."""
    return BlameOut(sentences=[_sentence(origin) for origin in lineage.blame(scope, name=name, number=number)])


def _sentence(origin: lineage.Origin) -> BlamedSentenceOut:
    decision = origin.decision
    return BlamedSentenceOut(
        line=origin.sentence.line,
        text=origin.sentence.text,
        anchor=origin.sentence.anchor,
        introduced_in=origin.introduced_in.number,
        version_id=origin.introduced_in.id,
        candidate_id=origin.introduced_in.candidate_id,
        decision=BlamedDecisionOut(**decision.model_dump()) if decision else None,
        evidence=[BlamedEvidenceOut(**row.model_dump(), episode_ids=episode_ids) for row, episode_ids in origin.evidence],
    )
