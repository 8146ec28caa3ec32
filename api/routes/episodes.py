"""Taking in and reading episodes."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import Page, PageDep
from api.schemas.episodes import EpisodeBatchIn, EpisodeBatchOut, EpisodeDetailOut, EpisodeOut, IngestedOut
from skillhub.services import episodes
from skillhub.services.scope import Scope

router = APIRouter(prefix="/v1/episodes", tags=["episodes"])
Filter = Annotated[str | None, Query(max_length=200)]


@router.post("/batch")
def ingest_episodes(body: EpisodeBatchIn, once: OnceDep) -> EpisodeBatchOut:
    """Store a batch, all of it or nothing; an episode whose key is stored with the same content is left as it is."""
    items = [item.value() for item in body.episodes]

    def store(scope: Scope) -> EpisodeBatchOut:
        results = episodes.ingest(scope, items, path="/body/episodes")
        return EpisodeBatchOut(results=[IngestedOut(key=each.key, id=each.id, created=each.created) for each in results])

    return once(EpisodeBatchOut, store)


@router.get("")
def list_episodes(scope: ScopeDep, query: PageDep, slice: Filter = None, split: Filter = None) -> Page[EpisodeOut]:
    """Episodes without their steps, newest first."""
    rows = episodes.page(scope, slice=slice, split=split, before=query.after, limit=query.fetch)
    return query.page(rows, key=lambda row: row.id, item=EpisodeOut.of)


@router.get("/{episode_id}")
def get_episode(episode_id: str, scope: ScopeDep) -> EpisodeDetailOut:
    """An episode with its steps and what was shown in it."""
    return EpisodeDetailOut.whole(*episodes.get(scope, episode_id))
