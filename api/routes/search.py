"""Finding skills, and contexts for whole batches of tasks."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.search import (
    ContextOut,
    ContextsIn,
    ContextsOut,
    EntryOut,
    HitOut,
    KeptContextOut,
    OmittedOut,
    PartsOut,
    SearchIn,
    SearchOut,
)
from skillhub.services import contexts
from skillhub.services.contexts import Batch
from skillhub.services.scope import Scope
from skillhub.services.search import Hit, Searcher
from skillhub.store import contexts as rows

router = APIRouter(prefix="/v1", tags=["search"])


def get_searcher(request: Request) -> Searcher:
    return request.app.state.searcher


ContextPage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]
SearcherDep = Annotated[Searcher, Depends(get_searcher)]


@router.post("/search", response_model_exclude_unset=True)
def search(body: SearchIn, scope: ScopeDep, searcher: SearcherDep) -> SearchOut:
    """The versions under a label that fit a query, best first; with `min_seq`, not before the index has seen that event."""
    found = searcher.find(scope, [body.query], label=body.label, k=body.k, kind=body.kind, min_seq=body.min_seq)
    hits = [_hit(hit, explain=body.explain) for hit in found.hits[0]]
    reranked = any("rerank" in hit.ranked.parts for hit in found.hits[0])
    return SearchOut(hits=hits, seq=found.seq, **({"reranked": reranked} if body.explain else {}))


@router.post("/contexts", status_code=201)
def create_contexts(body: ContextsIn, searcher: SearcherDep, once: OnceDep) -> ContextsOut:
    """For each task the fitting skills, rendered under the budget, and an id to name in the episode that follows."""
    batch = contexts.render(
        once.scope,
        searcher,
        tasks=body.tasks,
        k=body.k,
        token_budget=body.token_budget,
        label=body.label,
        min_seq=body.min_seq,
    )

    def record(scope: Scope) -> ContextsOut:
        return _contexts(batch, contexts.record(scope, batch))

    return once(ContextsOut, record)


@router.get("/contexts")
def list_contexts(
    scope: ScopeDep, page: ContextPage, created: CreatedDep, label: Word | None = None
) -> Page[KeptContextOut]:
    """Contexts as they were shown, newest first."""
    return page.page(contexts.page(scope, page.start, label=label, **created), item=KeptContextOut.of)


@router.get("/contexts/{context_id}")
def get_context(context_id: str, scope: ScopeDep) -> KeptContextOut:
    """What a policy was shown for a task."""
    return KeptContextOut.of(contexts.get(scope, context_id))


def _hit(hit: Hit, *, explain: bool) -> HitOut:
    version, skill = hit.served
    parts = {"parts": PartsOut(**hit.ranked.parts)} if explain else {}
    return HitOut(
        version_id=version.id,
        skill=skill.name,
        kind=skill.kind,
        number=version.number,
        description=version.description,
        rank=hit.rank,
        score=hit.ranked.score,
        **parts,
    )


def _contexts(batch: Batch, ids: list[str]) -> ContextsOut:
    rows = [
        ContextOut(
            context_id=context_id,
            task=task,
            text=packed.text,
            entries=[EntryOut(**asdict(piece)) for piece in packed.shown],
            tokens=packed.tokens,
            omitted=[OmittedOut(**asdict(piece)) for piece in packed.omitted],
        )
        for context_id, task, packed in zip(ids, batch.tasks, batch.packed, strict=True)
    ]
    return ContextsOut(contexts=rows, seq=batch.seq)
