"""Appending to and reading from the hash-chained event log."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlmodel import Session, col, func, select

from skillhub.hashing import canonical_json, canonical_text, sha256_bytes
from skillhub.models import Event
from skillhub.models.base import now
from skillhub.store import keyset
from skillhub.store.keyset import Start

ORDERS = {"seq": ("seq",)}
GENESIS = "0" * 64


class EventRow(NamedTuple):
    """What differs from event to event of one transaction."""

    seq: int
    kind: str
    subject_id: str
    payload: str
    """As canonical JSON."""
    prev_sha256: str
    sha256: str


class Chain:
    """Events that follow the newest one of the log. Whoever opens one takes the log's lock, and inserts the rows under it."""

    def __init__(self, session: Session, *, workspace_id: str, actor: str) -> None:
        lock(session, workspace_id)
        last = head(session, workspace_id)
        self.common = {"workspace_id": workspace_id, "actor": actor, "created_at": now()}
        self._hashed = self.common | {"created_at": self.common["created_at"].isoformat()}
        self._seq, self._sha256 = (last.seq, last.sha256) if last else (0, GENESIS)

    def row(self, kind: str, subject_id: str, payload: dict[str, Any]) -> EventRow:
        """The next event."""
        facts = (self._seq + 1, kind, subject_id, canonical_json(payload), self._sha256)
        self._seq, self._sha256 = facts[0], _sha256(*facts, **self._hashed)
        return EventRow(*facts, self._sha256)


def append(session: Session, *, workspace_id: str, actor: str, kind: str, subject_id: str, payload: dict[str, Any]) -> int:
    """Append one event and return its `seq`.

    The lock is held until the transaction ends, so `seq` has no gaps, is visible in order, and the chain cannot fork.
    """
    chain = Chain(session, workspace_id=workspace_id, actor=actor)
    event = Event(**chain.common, **chain.row(kind, subject_id, payload)._asdict() | {"payload": payload})
    session.add(event)
    session.flush()
    return event.seq


def lock(session: Session, workspace_id: str) -> None:
    """Become the only writer of this workspace's log until the transaction ends; taking it again costs nothing."""
    session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('event:' || :id, 0))"), {"id": workspace_id})


def event_sha256(event: Event) -> str:
    """Hash over every column of the event but itself; `prev_sha256` is one of them, which makes the chain."""
    columns = event.model_dump(exclude={"sha256"})
    return _sha256(**columns | {"payload": canonical_json(event.payload), "created_at": event.created_at.isoformat()})


def _sha256(
    seq: int, kind: str, subject_id: str, payload: str, prev_sha256: str, *, workspace_id: str, actor: str, created_at: str
) -> str:
    """Of the canonical JSON of these columns. Written out, because it is most of what a bulk import computes."""
    text = canonical_text
    return sha256_bytes(
        f'{{"actor":{text(actor)},"created_at":"{created_at}","kind":{text(kind)},"payload":{payload},'
        f'"prev_sha256":"{prev_sha256}","seq":{seq},"subject_id":{text(subject_id)},"workspace_id":{text(workspace_id)}}}'.encode()
    )


def head(session: Session, workspace_id: str) -> Event | None:
    """Newest event of the workspace."""
    return session.exec(
        select(Event).where(Event.workspace_id == workspace_id).order_by(col(Event.seq).desc()).limit(1)
    ).one_or_none()


def head_seq(session: Session, workspace_id: str) -> int:
    return session.exec(select(func.coalesce(func.max(Event.seq), 0)).where(Event.workspace_id == workspace_id)).one()


def after(session: Session, workspace_id: str, *, seq: int, limit: int = 500) -> Sequence[Event]:
    """Events with a higher `seq`, oldest first."""
    query = select(Event).where(Event.workspace_id == workspace_id, Event.seq > seq).order_by(col(Event.seq)).limit(limit)
    return session.exec(query).all()


def page(session: Session, workspace_id: str, *, start: Start, after: int = 0, **filters: Any) -> Sequence[Event]:
    """Events above `after` with these values."""
    query = select(Event).where(Event.workspace_id == workspace_id, Event.seq > after)
    return keyset.page(session, keyset.filtered(query, Event, filters), Event, orders=ORDERS, start=start)


def of_label(
    session: Session, workspace_id: str, *, kinds: Collection[str], skill_id: str, label: str, start: Start
) -> Sequence[Event]:
    """What happened to a label of a skill."""
    query = select(Event).where(Event.workspace_id == workspace_id, Event.subject_id == skill_id, col(Event.kind).in_(kinds))
    query = query.where(col(Event.payload)["label"].astext == label)
    return keyset.page(session, query, Event, orders=ORDERS, start=start)


class Broken(NamedTuple):
    """The first event that does not follow from the one before it."""

    seq: int
    why: str


def get(session: Session, workspace_id: str, seq: int) -> Event | None:
    return session.get(Event, (workspace_id, seq))


def verify(session: Session, workspace_id: str, *, after: int = 0, limit: int | None = None) -> tuple[int, int, Broken | None]:
    """Follow the chain from the event `after`: how many events were read, the `seq` of the last, and the first broken one.

    Reads a thousand rows at a time, so a log of any length needs no memory.
    """
    start = get(session, workspace_id, after)
    seq, prev, checked = after, start.sha256 if start else GENESIS, 0
    query = select(Event).where(Event.workspace_id == workspace_id, Event.seq > after).order_by(col(Event.seq)).limit(limit)
    for event in session.exec(query.execution_options(yield_per=1000)):
        checked += 1
        if why := _fault(event, seq=seq + 1, prev=prev):
            return checked, event.seq, Broken(event.seq, why)
        seq, prev = event.seq, event.sha256
    return checked, seq, None


def _fault(event: Event, *, seq: int, prev: str) -> str:
    """What is wrong with an event that should have this number and follow this hash; empty where nothing is."""
    if event.seq != seq:
        return f"follows event {seq - 1}: what stood between was deleted"
    if event.sha256 != event_sha256(event):
        return "was edited: its content does not give its hash"
    return "" if event.prev_sha256 == prev else "does not follow from the event before it: one of the two was replaced or moved"
