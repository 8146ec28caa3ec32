"""Keeps the searchable state of every workspace level with the database, by following the event log.

Events only say which skills changed; what is true of them is read from the tables. So applying an event twice, late or by two
replicas at once ends in the same state.
"""

import logging
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from skillhub.errors import Unavailable
from skillhub.retrieval.passages import passage
from skillhub.retrieval.state import Entry, Labelled, WorkspaceIndex
from skillhub.store import events
from skillhub.store import search as store
from skillhub.store.search import VersionText
from skillhub.store.session import Database

log = logging.getLogger("skillhub.reader")

_EVENTS_AT_ONCE = 256
_TEXTS_AT_ONCE = 32


class TextEncoder(Protocol):
    """What turns texts into vectors; see `embed.Embedder`."""

    @property
    def fingerprint(self) -> str: ...

    def encode(self, texts: list[str]) -> np.ndarray: ...


@dataclass
class _Followed:
    """A workspace and the lock of whoever brings it up to date."""

    index: WorkspaceIndex = field(default_factory=WorkspaceIndex)
    advancing: threading.Lock = field(default_factory=threading.Lock)


class Reader:
    """The reading index of this process. `start` follows all workspaces in a thread; a search catches up by itself as well."""

    def __init__(self, database: Database, encoder: TextEncoder, *, poll_seconds: float = 0.5) -> None:
        self.encoder = encoder
        self._database = database
        self._poll_seconds = poll_seconds
        self._workspaces: dict[str, _Followed] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._warm = False

    def start(self) -> None:
        self._stopping.clear()
        self._thread = threading.Thread(target=self._follow, name="reader", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end and wait a moment; a model that is being loaded is not waited for."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def index(self, workspace_id: str) -> WorkspaceIndex:
        """The state that searches read."""
        return self._followed(workspace_id).index

    def standing(self, heads: Mapping[str, int]) -> tuple[int, int]:
        """Events up to `heads` that have not been seen, and versions that can be found, over all workspaces."""
        followed = dict(self._workspaces)
        seen = {workspace_id: each.index.seq for workspace_id, each in followed.items()}
        behind = sum(max(0, head - seen.get(workspace_id, 0)) for workspace_id, head in heads.items())
        return behind, sum(len(each.index) for each in followed.values())

    def catch_up(self, workspace_id: str) -> int:
        """Apply what happened since, at most a few hundred changes; returns the `seq` reached."""
        return self._level(workspace_id, head=self._head(workspace_id), timeout=-1)

    def wait_for(self, workspace_id: str, seq: int, *, timeout: float) -> int:
        """Make event `seq` findable; Unavailable after `timeout` seconds. Returns the `seq` reached.

        What happened since is applied too, unless it is a long backlog, which is left to the thread. An index that has seen
        nothing yet counts as not ready.
        """
        deadline = time.monotonic() + timeout
        while True:
            head, reached = self._head(workspace_id), self.index(workspace_id).seq
            needed = max(seq, min(head, 1))
            if reached < needed or head - reached <= _EVENTS_AT_ONCE:
                reached = self._level(workspace_id, head=head, timeout=max(0.0, deadline - time.monotonic()))
            if reached >= needed:
                return reached
            if time.monotonic() >= deadline:
                raise Unavailable(f"the index has reached event {reached}, not yet {needed}")
            if head < needed:
                self._stopping.wait(0.02)

    def _level(self, workspace_id: str, *, head: int, timeout: float) -> int:
        """One round of catching up, where it is needed and no other thread holds on to it for longer than `timeout`."""
        followed = self._followed(workspace_id)
        if followed.index.seq < head and followed.advancing.acquire(timeout=timeout):
            try:
                if followed.index.seq < head:
                    self._advance(workspace_id, followed)
            finally:
                followed.advancing.release()
        return followed.index.seq

    def _followed(self, workspace_id: str) -> _Followed:
        return self._workspaces.setdefault(workspace_id, _Followed())

    def _head(self, workspace_id: str) -> int:
        with self._database.transaction(workspace_id) as session:
            return events.head_seq(session, workspace_id)

    def _advance(self, workspace_id: str, followed: _Followed) -> None:
        """One round: read what changed, embed what is new, apply both at once."""
        index = followed.index
        whole = index.seq == 0 or index.is_wasteful
        known = frozenset() if whole else index.known
        with self._database.transaction(workspace_id) as session:
            upto, skill_ids = events.head_seq(session, workspace_id), None
            if not whole:
                upto, skill_ids = store.changed_skills(
                    session, workspace_id=workspace_id, after=index.seq, upto=upto, limit=_EVENTS_AT_ONCE
                )
            labelled = store.labelled(session, workspace_id=workspace_id, skill_ids=skill_ids)
            new = {row.version_id for row in labelled} - known
            texts = store.texts(session, new) if new else []
            vectors = store.vectors(session, new, fingerprint=self.encoder.fingerprint) if new else {}
        vectors |= self._embed(workspace_id, [text for text in texts if text.version_id not in vectors])
        entries = [Entry(text.version_id, text.skill_id, _searched(text), vectors[text.version_id]) for text in texts]
        target = WorkspaceIndex() if whole else index
        target.apply(seq=upto, skill_ids=skill_ids, labelled=(Labelled(*row) for row in labelled), entries=entries)
        followed.index = target

    def _embed(self, workspace_id: str, texts: Sequence[VersionText]) -> dict[str, np.ndarray]:
        """Vectors of versions that have none; stored part by part, so that a long backlog survives a restart."""
        vectors: dict[str, np.ndarray] = {}
        for part in _parts(texts):
            rows = dict(zip((text.version_id for text in part), self.encoder.encode([*map(_passage, part)]), strict=True))
            with self._database.transaction(workspace_id) as session:
                store.insert_vectors(session, rows, workspace_id=workspace_id, fingerprint=self.encoder.fingerprint)
            vectors |= rows
        return vectors

    def _follow(self) -> None:
        while not self._stopping.is_set():
            try:
                self._advance_all()
            except Exception as error:
                log.warning("the reading index could not catch up and tries again: %s", error)
            self._stopping.wait(self._poll_seconds)

    def _advance_all(self) -> None:
        with self._database.system_transaction() as session:
            heads = store.heads(session)
        for workspace_id, head in heads.items():
            while not self._stopping.is_set() and self.index(workspace_id).seq < head:
                self.catch_up(workspace_id)
        if not self._warm and any(len(followed.index) for followed in list(self._workspaces.values())):
            self.encoder.encode(["the first query need not wait for the model"])
            self._warm = True


def _passage(text: VersionText) -> str:
    """What stands for a version; one document that cannot be read must not keep the others from being found."""
    try:
        return passage(name=text.name, description=text.description, document=text.document)
    except Exception:
        log.exception("version %s of %r is found by its name and description only", text.version_id, text.name)
        return passage(name=text.name, description=text.description, document="")


def _searched(text: VersionText) -> str:
    """The words a version is found by: the name's parts count too."""
    return f"{text.name.replace('-', ' ')}\n{text.document}"


def _parts(texts: Sequence[VersionText]) -> Iterable[Sequence[VersionText]]:
    return (texts[start : start + _TEXTS_AT_ONCE] for start in range(0, len(texts), _TEXTS_AT_ONCE))
