"""SQL that reads and writes the rows of many skills at once, past the object-relational mapper."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import ClientCursor, Copy
from sqlalchemy import ARRAY, String, any_, literal, text
from sqlmodel import Session, col, select

from skillhub.documents.archive import BundledFile
from skillhub.models import Label, Skill, Version, VersionFile
from skillhub.store import labels
from skillhub.store.events import EventRow
from skillhub.store.quarantine import HELD_LABEL

_ROW, _FIELD = "\x1e", "\x1f"
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", _FIELD: "\t", _ROW: "\n"}
"""In this order, a block of rows becomes the text format of COPY."""
FETCHED = 200
"""Rows that one round trip of a cursor brings."""


class SkillRow(NamedTuple):
    id: str
    name: str
    kind: str
    state: str
    last_number: int


class VersionRow(NamedTuple):
    id: str
    skill_id: str
    number: int
    content_sha256: str
    document: str
    description: str
    message: str


class FileRow(NamedTuple):
    version_id: str
    path: str
    mode: int
    content: str
    """`\\x` and hexadecimal digits, as PostgreSQL writes bytes."""


class ParentRow(NamedTuple):
    version_id: str
    parent_id: str
    relation: str


class LabelRow(NamedTuple):
    skill_id: str
    name: str
    version_id: str
    revision: int


_TABLES: dict[type[tuple], tuple[str, tuple[str, ...]]] = {
    SkillRow: ("skill", ("workspace_id", "created_at")),
    VersionRow: ("version", ("workspace_id", "created_at", "created_by")),
    FileRow: ("version_file", ("workspace_id",)),
    ParentRow: ("version_parent", ("workspace_id",)),
    LabelRow: ("label", ("workspace_id", "moved_at")),
    EventRow: ("event", ("workspace_id", "created_at", "actor")),
}
"""Row -> its table, and the columns that are the same in all rows of a batch, so that they are sent once."""
_NUMBERS = text("""
UPDATE skill SET last_number = new.number FROM unnest(CAST(:ids AS text[]), CAST(:numbers AS int[])) AS new (id, number)
WHERE skill.id = new.id
""")
_MOVES = text("""
UPDATE label SET version_id = new.version_id, revision = new.revision, moved_at = :at
FROM unnest(CAST(:skill_ids AS text[]), CAST(:names AS text[]), CAST(:version_ids AS text[]), CAST(:revisions AS int[]))
  AS new (skill_id, name, version_id, revision)
WHERE label.skill_id = new.skill_id AND label.name = new.name
""")


@dataclass(slots=True)
class Pointer:
    """Where a label points."""

    version_id: str
    number: int
    content_sha256: str
    revision: int
    known: bool = True
    """Whether the database has the label already."""


@dataclass(slots=True)
class Standing:
    """A skill as it stands, its row locked."""

    id: str
    name: str
    kind: str
    state: str
    last_number: int
    labels: dict[str, Pointer] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    """Labels that were taken away, with their last revision."""
    known: bool = True
    """Whether the database has the skill already."""


def standing(session: Session, *, workspace_id: str, names: Collection[str]) -> dict[str, Standing]:
    """The skills of these names that are there, with all their labels; locked in order of name."""
    columns = (Skill.id, Skill.name, Skill.kind, Skill.state, Skill.last_number)
    query = select(*columns).where(Skill.workspace_id == workspace_id, _among(Skill.name, names))
    found = {row.id: Standing(*row) for row in session.execute(query.order_by(Skill.name).with_for_update())}
    pointers = select(
        Label.skill_id, Label.name, Label.version_id, Version.number, Version.content_sha256, Label.revision
    ).join(Version, col(Version.id) == col(Label.version_id))
    for skill_id, label, *pointer in session.execute(pointers.where(_among(Label.skill_id, found))):
        found[skill_id].labels[label] = Pointer(*pointer)
    for (skill_id, label), revision in labels.removed(session, workspace_id=workspace_id, skill_ids=found).items():
        found[skill_id].removed[label] = revision
    return {skill.name: skill for skill in found.values()}


def stage(session: Session, rows: Mapping[type[tuple], Sequence[tuple]]) -> list[type[tuple]]:
    """Send rows by their types, which are those above, into staging tables of this transaction; returns the types there are.

    PostgreSQL takes no COPY into a table with row-level security; `insert` brings them from there under its policy.
    """
    kinds = [kind for kind, values in rows.items() if values]
    cursor = session.connection().connection.driver_connection.cursor()
    if kinds:
        cursor.execute(";".join(map(_staging, kinds)))
    for kind in kinds:
        with cursor.copy(f"COPY staged_{_TABLES[kind][0]} FROM STDIN") as copy:
            _write(copy, rows[kind])
    return kinds


def insert(session: Session, kinds: Sequence[type[tuple]], *, workspace_id: str, actor: str, at: datetime) -> None:
    """Insert the staged rows of these types, in this order, made at `at` by `actor`: one round trip, the database's work."""
    same = {"workspace_id": workspace_id, "actor": actor, "created_by": actor, "created_at": at, "moved_at": at}
    if kinds:
        ClientCursor(session.connection().connection.driver_connection).execute(";".join(map(_from_staging, kinds)), same)


def _write(copy: Copy, rows: Sequence[tuple]) -> None:
    """All rows as one text, escaped at once; row by row only where a value holds one of the separators."""
    text = _ROW.join(_FIELD.join(map(str, row)) for row in rows)
    if (text.count(_ROW), text.count(_FIELD)) == (len(rows) - 1, len(rows) * (len(rows[0]) - 1)):
        copy.write(_escaped(text))
    else:
        for row in rows:
            copy.write_row(row)


def _escaped(text: str) -> str:
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _staging(kind: type[tuple]) -> str:
    table, _ = _TABLES[kind]
    return f"CREATE TEMPORARY TABLE staged_{table} ON COMMIT DROP AS SELECT {', '.join(kind._fields)} FROM {table} WITH NO DATA"


def _from_staging(kind: type[tuple]) -> str:
    table, same = _TABLES[kind]
    columns, values = ", ".join(kind._fields), ", ".join(f"%({name})s" for name in same)
    return f"INSERT INTO {table} ({columns}, {', '.join(same)}) SELECT {columns}, {values} FROM staged_{table}"


def move(session: Session, *, skills: Sequence[SkillRow], labels: Sequence[LabelRow], at: datetime) -> None:
    """Give skills that are there their new last number, and labels that are there their new version."""
    if skills:
        session.execute(_NUMBERS, {"ids": [row.id for row in skills], "numbers": [row.last_number for row in skills]})
    if labels:
        columns = zip(("skill_ids", "names", "version_ids", "revisions"), map(list, zip(*labels, strict=True)), strict=True)
        session.execute(_MOVES, {**dict(columns), "at": at})


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
        .where(Skill.workspace_id == workspace_id, Label.name == label, ~HELD_LABEL)
        .where(col(Skill.name).startswith(prefix, autoescape=True))
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
