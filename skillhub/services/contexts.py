"""Contexts: for each task of a batch, the skills that fit it, rendered under a budget and kept as they were shown."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillhub import documents
from skillhub.context import tokens
from skillhub.context.pack import Packed, Piece, pack
from skillhub.errors import Invalid, NotFound
from skillhub.hashing import sha256_bytes
from skillhub.ids import new_id
from skillhub.models import Context, Version
from skillhub.safety.secrets import redact
from skillhub.safety.text import storable
from skillhub.services.scope import Scope
from skillhub.services.search import Hit, Searcher
from skillhub.store import contexts
from skillhub.store.keyset import Start

NEWEST = Start("-created_at")

log = logging.getLogger("skillhub.contexts")

_ENTRY_FIELDS = ("version_id", "skill", "number", "rank", "score")


@dataclass(frozen=True)
class Batch:
    """Contexts of one call, in the order of its tasks."""

    label: str
    token_budget: int
    seq: int
    """Event the index had reached."""
    tasks: tuple[str, ...]
    packed: tuple[Packed, ...]


def render(
    scope: Scope, searcher: Searcher, *, tasks: Sequence[str], k: int, token_budget: int, label: str, min_seq: int | None = None
) -> Batch:
    """Search and pack for all tasks at once; writes nothing. A task that occurs twice is worked on once.

    Credentials in a task are redacted first, as in the episodes that follow.
    """
    tasks = [redact(storable(task)) for task in tasks]
    distinct = list(dict.fromkeys(tasks))
    found = searcher.find(scope, distinct, label=label, k=k, min_seq=min_seq)
    bodies: dict[str, str] = {}
    packed = {}
    for task, hits in zip(distinct, found.hits, strict=True):
        chosen = [_piece(hit, bodies) for hit in hits]
        packed[task] = pack(chosen, token_budget=token_budget, count_tokens=tokens.estimate)
    return Batch(label, token_budget, found.seq, tuple(tasks), tuple(packed[task] for task in tasks))


def record(scope: Scope, batch: Batch) -> list[str]:
    """Keep what was shown, one row for each task, in one transaction; returns the ids of the contexts."""
    rows = [_row(scope, batch, task, packed) for task, packed in zip(batch.tasks, batch.packed, strict=True)]
    with scope.transaction() as unit:
        unit.session.add_all(rows)
        unit.session.flush()
        ids = [row.id for row in rows]
        unit.record("contexts.rendered", ids[0], ids=ids, count=len(ids), label=batch.label)
    return ids


def get(scope: Scope, context_id: str) -> Context:
    with scope.transaction() as unit:
        context = contexts.get(unit.session, context_id)
        if context is None:
            raise NotFound(f"there is no context {context_id!r}")
        return context


def page(scope: Scope, start: Start = NEWEST, **filters: Any) -> Sequence[Context]:
    """Contexts by `label`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return contexts.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters)


def _piece(hit: Hit, bodies: dict[str, str]) -> Piece:
    version, skill = hit.served
    if version.id not in bodies:
        bodies[version.id] = _body(version)
    return Piece(
        version_id=version.id,
        skill=skill.name,
        kind=skill.kind,
        number=version.number,
        rank=hit.rank,
        score=hit.ranked.score,
        document=version.document,
        body=bodies[version.id],
    )


def _body(version: Version) -> str:
    """The text below the frontmatter; all of a document that rules made stricter since no longer let in."""
    try:
        return documents.parse(version.document).body
    except Invalid as error:
        log.warning("version %s is shown whole: %s", version.id, error)
        return version.document


def _row(scope: Scope, batch: Batch, task: str, packed: Packed) -> Context:
    return Context(
        id=new_id("ctx"),
        workspace_id=scope.workspace_id,
        task=task,
        label=batch.label,
        token_budget=batch.token_budget,
        entries=[{name: getattr(piece, name) for name in _ENTRY_FIELDS} for piece in packed.shown],
        text=packed.text,
        text_sha256=sha256_bytes(packed.text.encode()),
        seq=batch.seq,
    )
