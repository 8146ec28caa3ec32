"""Calls about episodes, search and contexts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, given, part, plain_list, strings
from skillhub_client.transport import Call


def ingest_episodes(episodes: Iterable[m.EpisodeIn | Mapping[str, Any]]) -> Call[m.IngestResult]:
    """Store up to 500 episodes, all or nothing; a key sent before is answered with its id and `created` false."""
    return Call("POST", "/v1/episodes/batch", as_(m.IngestResult), json={"episodes": plain_list(episodes)})


def list_episodes(
    *, slice: str | None = None, split: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Episode]]:
    """One page of episodes, without steps."""
    params = {"slice": slice, "split": split, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/episodes", as_(m.Page[m.Episode]), params=params)


def get_episode(id: str) -> Call[m.Episode]:
    """An episode with its steps and exposures."""
    return Call("GET", f"/v1/episodes/{part(id)}", as_(m.Episode))


def search(
    query: str,
    *,
    k: int = 10,
    kind: str | None = None,
    label: str = "production",
    min_seq: int | None = None,
    explain: bool = False,
) -> Call[m.SearchResult]:
    """The k best versions under a label. `min_seq` waits until the index has seen that event, else Unavailable."""
    body = {"query": query, "k": k, "kind": kind, "label": label, "min_seq": min_seq, "explain": explain}
    return Call("POST", "/v1/search", as_(m.SearchResult), json=given(body))


def contexts(
    tasks: Sequence[str], *, k: int = 3, token_budget: int = 2000, label: str = "production", min_seq: int | None = None
) -> Call[m.ContextBatch]:
    """One context for each of up to 512 tasks, at most `k` skills and `token_budget` tokens each."""
    body = {"tasks": strings(tasks), "k": k, "token_budget": token_budget, "label": label, "min_seq": min_seq}
    return Call("POST", "/v1/contexts", as_(m.ContextBatch), json=given(body))


def list_contexts(
    *, label: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.KeptContext]]:
    """One page of contexts as they were shown, newest first."""
    params = {"label": label, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/contexts", as_(m.Page[m.KeptContext]), params=params)


def get_context(id: str) -> Call[m.KeptContext]:
    """What a policy was shown for a task."""
    return Call("GET", f"/v1/contexts/{part(id)}", as_(m.KeptContext))
