"""Taking in and reading episodes."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.pages import CreatedDep, Page, PageQuery, sorted_by
from api.schemas.base import Word
from api.schemas.episodes import EpisodeBatchIn, EpisodeBatchOut, EpisodeDetailOut, EpisodeOut, IngestedOut
from skillhub.services import episodes
from skillhub.services.scope import Scope
from skillhub.store import episodes as rows

router = APIRouter(prefix="/v1/episodes", tags=["episodes"])
EpisodePage = Annotated[PageQuery, sorted_by(rows.ORDERS, default="-created_at")]


@dataclass(frozen=True)
class EpisodeFilters:
    """What a list of episodes may be narrowed to."""

    slice: Word | None = None
    split: Word | None = None
    environment: Word | None = None
    policy: Word | None = None
    success: bool | None = None
    min_score: Annotated[float | None, Query(ge=0, le=1)] = None
    context_id: Word | None = None
    trial_id: Word | None = None


@router.post("/batch")
def ingest_episodes(body: EpisodeBatchIn, once: OnceDep) -> EpisodeBatchOut:
    """Store a batch, all of it or nothing; an episode whose key is stored with the same content is left as it is."""
    items = [item.value() for item in body.episodes]

    def store(scope: Scope) -> EpisodeBatchOut:
        results = episodes.ingest(scope, items, path="/body/episodes")
        return EpisodeBatchOut(results=[IngestedOut(key=each.key, id=each.id, created=each.created) for each in results])

    return once(EpisodeBatchOut, store)


@router.get("")
def list_episodes(
    scope: ScopeDep, page: EpisodePage, created: CreatedDep, filters: Annotated[EpisodeFilters, Depends()]
) -> Page[EpisodeOut]:
    """Episodes without their steps, newest first."""
    return page.page(episodes.page(scope, page.start, **vars(filters), **created), item=EpisodeOut.of)


@router.get("/{episode_id}")
def get_episode(episode_id: str, scope: ScopeDep) -> EpisodeDetailOut:
    """An episode with its steps and what was shown in it."""
    return EpisodeDetailOut.whole(*episodes.get(scope, episode_id))
