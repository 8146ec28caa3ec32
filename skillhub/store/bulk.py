"""SQL that reads and writes the rows of many skills at once, past the object-relational mapper."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Cursor
from sqlalchemy import ARRAY, String, any_, literal, text
from sqlmodel import Session, SQLModel, col, select

from skillhub.documents.archive import BundledFile
from skillhub.models import Event, Label, Skill, Version, VersionFile, VersionParent
from skillhub.store.events import EventRow
from skillhub.store.session import as_system

FETCHED = 200
"""Rows that one round trip of a cursor brings."""


class SkillRow(NamedTuple):
    id: str
    workspace_id: str
    name: str
    kind: str
    state: str
    last_number: int
    created_at: datetime


class VersionRow(NamedTuple):
    id: str
    workspace_id: str
    skill_id: str
    number: int
    content_sha256: str
    document: str
    description: str
    message: str
    created_by: str
    created_at: datetime


class FileRow(NamedTuple):
    version_id: str
    workspace_id: str
    path: str
    mode: int
    content: bytes


class ParentRow(NamedTuple):
    version_id: str
    workspace_id: str
    parent_id: str
    relation: str


class LabelRow(NamedTuple):
    skill_id: str
    name: str
    workspace_id: str
    version_id: str
    revision: int
    moved_at: datetime


_TABLES: dict[type[tuple], type[SQLModel]] = {
    SkillRow: Skill, VersionRow: Version, FileRow: VersionFile, ParentRow: VersionParent, LabelRow: Label, EventRow: Event
}  # fmt: skip
_NUMBERS = text("""
UPDATE skill SET last_number = new.number FROM unnest(CAST(:ids AS text[]), CAST(:numbers AS int[])) AS new (id, number)
WHERE skill.id = new.id
""")
_MOVES = text("""
UPDATE label SET version_id = new.version_id, revision = new.revision, moved_at = new.moved_at
FROM unnest(CAST(:skill_ids AS text[]), CAST(:names AS text[]), CAST(:version_ids AS text[]), CAST(:revisions AS int[]),
  CAST(:times AS timestamptz[])) AS new (skill_id, name, version_id, revision, moved_at)
WHERE label.skill_id = new.skill_id AND label.name = new.name
""")


@dataclass
class Pointer:
    """Where a label points."""

    version_id: str
    number: int
    content_sha256: str
    revision: int
    moved_at: datetime
    known: bool = True
    """Whether the database has the label already."""


@dataclass
class Standing:
    """A skill as it stands, its row locked."""

    id: str
    name: str
    kind: str
    state: str
    last_number: int
    created_at: datetime
    labels: dict[str, Pointer] = field(default_factory=dict)
    known: bool = True
    """Whether the database has the skill already."""


def standing(session: Session, *, workspace_id: str, names: Collection[str]) -> dict[str, Standing]:
    """The skills of these names that are there, with all their labels; locked in order of name."""
    columns = (Skill.id, Skill.name, Skill.kind, Skill.state, Skill.last_number, Skill.created_at)
    query = select(*columns).where(Skill.workspace_id == workspace_id, _among(Skill.name, names))
    found = {row.id: Standing(*row) for row in session.execute(query.order_by(Skill.name).with_for_update())}
    pointers = select(
        Label.skill_id, Label.name, Label.version_id, Version.number, Version.content_sha256, Label.revision, Label.moved_at
    ).join(Version, col(Version.id) == col(Label.version_id))
    for skill_id, label, *pointer in session.execute(pointers.where(_among(Label.skill_id, found))):
        found[skill_id].labels[label] = Pointer(*pointer)
    return {skill.name: skill for skill in found.values()}


def insert(session: Session, rows: Mapping[type[tuple], Iterable[tuple]]) -> None:
    """Insert rows by their types, which are those above, in the order given, by COPY.

    While the database takes in the rows of one type, those of the next are made and written out. COPY does not know row-level
    security, so it runs under the system's role: the caller vouches that all rows are of its own workspace.
    """
    with as_system(session), ThreadPoolExecutor(1) as pool:
        cursor = session.connection().connection.driver_connection.cursor()
        sending: Future[None] | None = None
        for kind, values in rows.items():
            block = "".join(map(_line, values))
            if sending is not None:
                sending.result()
            sending = pool.submit(_send, cursor, kind, block)
        if sending is not None:
            sending.result()


def _send(cursor: Cursor, kind: type[tuple], block: str) -> None:
    if block:
        with cursor.copy(f'COPY "{_TABLES[kind].__tablename__}" ({", ".join(kind._fields)}) FROM STDIN') as copy:
            copy.write(block)


def _line(row: tuple) -> str:
    """A row in the text format of COPY; none of these columns is ever null."""
    return "\t".join(map(_field, row)) + "\n"


def _field(value: object) -> str:
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    return str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def move(session: Session, *, skills: Sequence[SkillRow], labels: Sequence[LabelRow]) -> None:
    """Give skills that are there their new last number, and labels that are there their new version."""
    if skills:
        session.execute(_NUMBERS, {"ids": [row.id for row in skills], "numbers": [row.last_number for row in skills]})
    if labels:
        skill_ids, names, _, *rest = map(list, zip(*labels, strict=True))
        columns = dict(zip(("version_ids", "revisions", "times"), rest, strict=True))
        session.execute(_MOVES, {"skill_ids": skill_ids, "names": names, **columns})


def _among(column: Any, values: Iterable[str]) -> Any:
    """`IN` by one array: a statement of hundreds of parameters takes longer to make than to run."""
    return column == any_(literal(list(values), ARRAY(String)))


class Exported(NamedTuple):
    """A version under a label, whole."""

    name: str
    kind: str
    document: str
    message: str
    files: list[BundledFile]


def under_label(
    session: Session, *, workspace_id: str, label: str, kind: str | None, state: str | None, prefix: str
) -> Iterator[Exported]:
    """What is under a label, by name, read through a cursor of the server; the transaction stays open meanwhile."""
    query = (
        select(Version.id, Skill.name, Skill.kind, Version.document, Version.message)
        .join(Label, col(Label.version_id) == col(Version.id))
        .join(Skill, col(Skill.id) == col(Label.skill_id))
        .where(Skill.workspace_id == workspace_id, Label.name == label, col(Skill.name).startswith(prefix, autoescape=True))
    )
    for column, value in ((Skill.kind, kind), (Skill.state, state)):
        if value is not None:
            query = query.where(column == value)
    found = session.execute(query.order_by(Skill.name), execution_options={"yield_per": FETCHED})
    for part in found.partitions():
        files = _files(session, [row.id for row in part])
        for version_id, *facts in part:
            yield Exported(*facts, files.get(version_id, []))


def _files(session: Session, version_ids: Sequence[str]) -> dict[str, list[BundledFile]]:
    columns = (VersionFile.version_id, VersionFile.path, VersionFile.mode, VersionFile.content)
    query = select(*columns).where(_among(VersionFile.version_id, version_ids)).order_by(VersionFile.path)
    found: dict[str, list[BundledFile]] = {}
    for version_id, *file in session.execute(query):
        found.setdefault(version_id, []).append(BundledFile(*file))
    return found
