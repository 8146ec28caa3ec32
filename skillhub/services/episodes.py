"""Use cases of episodes: taking them in once, reading them back."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skillhub import tracing
from skillhub.errors import Conflict, Invalid, NotFound
from skillhub.hashing import sha256_json
from skillhub.ids import new_id
from skillhub.models import Episode, Exposure, Step
from skillhub.models.base import now
from skillhub.rollouts import ingest as rollouts
from skillhub.rollouts.ingest import EpisodeInput
from skillhub.rollouts.trace import Trace, TraceStep
from skillhub.safety.secrets import redact
from skillhub.services.scope import Scope, Unit
from skillhub.store import episodes as store
from skillhub.store.keyset import Start

NEWEST = Start("-created_at")


@dataclass(frozen=True)
class Ingested:
    """What became of one episode of a batch."""

    key: str
    id: str
    created: bool
    """False where the same episode was stored before."""


def ingest(scope: Scope, items: Sequence[EpisodeInput], *, path: str = "/episodes") -> list[Ingested]:
    """Store a batch in one transaction: all of it or nothing."""
    with scope.transaction() as unit:
        return ingest_in(unit, items, path=path)


def ingest_in(unit: Unit, items: Sequence[EpisodeInput], *, path: str = "/episodes") -> list[Ingested]:
    """Store episodes, each key once. Credentials in their texts are redacted before.

    Invalid names the path of the bad field; Conflict names a key that is stored with other content.
    """
    clean = [rollouts.normalise(item, path=f"{path}/{index}", redact=redact) for index, item in enumerate(items)]
    _check_references(unit, clean, path=path)
    rows = _rows(unit, clean)
    created = store.insert_new(unit.session, list(rows.values())) if rows else set()
    known = store.stored(unit.session, workspace_id=unit.workspace_id, keys=rows.keys() - created)
    for key, (_, sha256) in known.items():
        _same(key, sha256, rows[key]["content_sha256"])
    ids = {key: row["id"] for key, row in rows.items()} | {key: episode_id for key, (episode_id, _) in known.items()}
    new = {item.key: item for item in clean if item.key in created}
    if new:
        _insert_parts(unit, {ids[key]: item for key, item in new.items()})
        new_ids = [ids[key] for key in new]
        unit.record("episodes.ingested", new_ids[0], ids=new_ids, count=len(new_ids))
    first = {item.key: index for index, item in reversed(list(enumerate(clean)))}
    return [Ingested(item.key, ids[item.key], item.key in created and first[item.key] == i) for i, item in enumerate(clean)]


def get(scope: Scope, episode_id: str) -> tuple[Episode, Sequence[Step], Sequence[Exposure]]:
    """An episode with its steps and what was shown in it."""
    with scope.transaction() as unit:
        episode = store.get(unit.session, workspace_id=unit.workspace_id, episode_id=episode_id)
        if episode is None:
            raise NotFound(f"there is no episode {episode_id!r}")
        return episode, store.steps(unit.session, [episode_id]), store.exposures(unit.session, episode_id)


def page(scope: Scope, start: Start = NEWEST, **filters: Any) -> Sequence[Episode]:
    """Episodes without their steps, by `slice`, `split`, `environment`, `policy`, `success`, `min_score`, `context_id`,
    `trial_id`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return store.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters)


def traces(scope: Scope, *, slice: str, split: str | None = None) -> list[Trace]:
    """The episodes of a slice as the stages read them, oldest first."""
    with scope.transaction() as unit:
        episodes = store.of_slice(unit.session, workspace_id=unit.workspace_id, slice=slice, split=split)
        steps = defaultdict(list)
        for step in store.steps(unit.session, [episode.id for episode in episodes]):
            steps[step.episode_id].append(TraceStep(step.observation, step.action, step.reward, step.score))
    tracing.link(episode.traceparent for episode in episodes)
    return [
        Trace(episode.id, episode.task, episode.slice, tuple(steps[episode.id]), episode.score, episode.success)
        for episode in episodes
    ]


def _check_references(unit: Unit, items: Sequence[EpisodeInput], *, path: str) -> None:
    """Invalid where a context, trial, version or candidate is not known in this workspace."""
    named = defaultdict(list)
    for field, identifier, place in _references(items, path):
        named[field].append((identifier, place))
    for field, uses in named.items():
        known = store.known_ids(unit.session, field=field, ids={identifier for identifier, _ in uses})
        for identifier, place in uses:
            if identifier not in known:
                raise Invalid(f"{place}: {identifier!r} is not known", path=place)


def _references(items: Sequence[EpisodeInput], path: str) -> Iterator[tuple[str, str, str]]:
    """`(field, id, path)` of every id of another noun that the episodes name."""
    for index, item in enumerate(items):
        owners = [(item, ("context_id", "trial_id"), f"{path}/{index}")]
        for rank, exposure in enumerate(item.exposures):
            owners.append((exposure, ("version_id", "candidate_id"), f"{path}/{index}/exposures/{rank}"))
        for owner, fields, place in owners:
            yield from ((field, getattr(owner, field), f"{place}/{field}") for field in fields if getattr(owner, field))


def _rows(unit: Unit, items: Sequence[EpisodeInput]) -> dict[str, dict]:
    """`{key: columns of Episode}`; a key twice in the batch must mean the same episode twice."""
    rows: dict[str, dict] = {}
    for item in items:
        content = asdict(item)
        sha256 = sha256_json(content)
        if item.key in rows:
            _same(item.key, rows[item.key]["content_sha256"], sha256)
            continue
        del content["steps"], content["exposures"]
        own = {"id": new_id("eps"), "workspace_id": unit.workspace_id, "content_sha256": sha256, "created_at": now()}
        rows[item.key] = content | own
    return rows


def _same(key: str, stored_sha256: str, sha256: str) -> None:
    if stored_sha256 != sha256:
        raise Conflict(f"episode {key!r} is stored with other content")


def _insert_parts(unit: Unit, items: dict[str, EpisodeInput]) -> None:
    """Steps and exposures of new episodes, `{episode_id: input}`."""
    steps = [
        (episode_id, index, step.observation, step.action, step.reward, step.score)
        for episode_id, item in items.items()
        for index, step in enumerate(item.steps)
    ]
    exposures = [
        asdict(exposure) | {"id": new_id("exp"), "workspace_id": unit.workspace_id, "episode_id": episode_id}
        for episode_id, item in items.items()
        for exposure in item.exposures
    ]
    if steps:
        store.insert_steps(unit.session, workspace_id=unit.workspace_id, rows=steps)
    if exposures:
        store.insert_exposures(unit.session, exposures)
