"""Publishing and reading many skills at once, with the same effect as one by one and a fraction of the round trips."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from skillhub.documents.archive import BundledFile
from skillhub.errors import Conflict, SkillhubError
from skillhub.ids import new_id
from skillhub.services.labels import LATEST, PRODUCTION, check_label
from skillhub.services.scope import Scope, Unit
from skillhub.services.versions import Publishable, checked
from skillhub.store import bulk as rows
from skillhub.store.events import Chain, EventRow

BATCH = 2000
"""Lines of one transaction."""


@dataclass(frozen=True)
class Line:
    """One skill to publish."""

    name: str
    document: str
    kind: str = "skill"
    files: Sequence[BundledFile] = ()
    label: str | None = PRODUCTION
    message: str = "imported"


class Published(NamedTuple):
    """The version that holds a line's content now."""

    skill: str
    number: int
    version_id: str


Result = Published | SkillhubError


def publish_all(scope: Scope, batches: Iterable[Sequence[Line | SkillhubError]]) -> Iterator[list[Result]]:
    """What became of the lines of each batch, in order: a version, or why there is none. One transaction for each batch.

    The same as `imports` does with folders: content that the label has already is left alone, a new version of a skill has the
    newest one as its parent. A line that is an error already is handed through. While the database writes a batch, the next
    one is read and checked.
    """
    results: list[Result] | None = None
    with ThreadPoolExecutor(1) as pool, ExitStack() as being_written:
        for batch in batches:
            contents = [_checked(line) for line in batch]
            being_written.close()
            if results is not None:
                yield results
            results = being_written.enter_context(_written(scope, pool, batch, contents))
        being_written.close()
        if results is not None:
            yield results


@contextmanager
def _written(
    scope: Scope, pool: Executor, lines: Sequence[Line | SkillhubError], contents: Sequence[Publishable | SkillhubError]
) -> Iterator[list[Result]]:
    """What will become of the lines. Their rows are sent before this begins, and are committed when it ends: in between the
    database works, and the next lines can be checked without two threads in each other's way."""
    with scope.transaction() as unit:
        batch = _Batch(unit, {content.name for content in contents if isinstance(content, Publishable)})
        results = [batch.publish(*pair) for pair in zip(lines, contents, strict=True)]
        writing = pool.submit(batch.stage())
        try:
            yield results
        finally:
            wait([writing])
        writing.result()


def export(scope: Scope, *, label: str, kind: str | None, state: str | None, prefix: str) -> Iterator[Line]:
    """Every skill under a label, by name, as lines that `publish_all` takes; one snapshot of the store."""
    check_label(label)
    return _export(scope, label=label, kind=kind, state=state, prefix=prefix)


def _export(scope: Scope, *, label: str, **filters: str | None) -> Iterator[Line]:
    with scope.transaction() as unit:
        for found in rows.under_label(unit.session, workspace_id=unit.workspace_id, label=label, **filters):
            yield Line(**found._asdict(), label=label)


def _checked(line: Line | SkillhubError) -> Publishable | SkillhubError:
    if isinstance(line, SkillhubError):
        return line
    try:
        return checked(name=line.name, kind=line.kind, document=line.document, files=line.files, label=line.label)
    except SkillhubError as error:
        return error


class _Batch:
    """The skills of a batch as they stand, and the rows that publishing makes of them; nothing is written before `write`."""

    def __init__(self, unit: Unit, names: set[str]) -> None:
        self.unit = unit
        self.chain = Chain(unit.session, workspace_id=unit.workspace_id, actor=unit.scope.actor)
        self.skills = rows.standing(unit.session, workspace_id=unit.workspace_id, names=names)
        self.changed: dict[str, rows.Standing] = {}
        self.moved: dict[tuple[str, str], rows.Pointer] = {}
        self.events: list[EventRow] = []
        self.versions: list[rows.VersionRow] = []
        self.files: list[rows.FileRow] = []
        self.parents: list[rows.ParentRow] = []

    def publish(self, line: Line, content: Publishable | SkillhubError) -> Result:
        if isinstance(content, SkillhubError):
            return content
        skill = self.skills.get(content.name) or self._create(content.name, line.kind)
        if skill.state == "retired":
            return Conflict(f"the skill {skill.name!r} is retired")
        if skill.kind != line.kind:
            return Conflict(f"{skill.name!r} is a {skill.kind}, not a {line.kind}")
        current = skill.labels.get(line.label or LATEST)
        if current is None or current.content_sha256 != content.sha256:
            current = self._next(skill, line, content)
        return Published(skill.name, current.number, current.version_id)

    def stage(self) -> Callable[[], None]:
        """Send all rows, those that others refer to first; returns what remains, which is the database's work."""
        skills = {known: [self._row(s) for s in self.changed.values() if s.known == known] for known in (True, False)}
        moved = self.moved.items()
        labels = {known: [self._label(*move) for move in moved if move[1].known == known] for known in (True, False)}
        new = {
            rows.SkillRow: skills[False], rows.VersionRow: self.versions, rows.FileRow: self.files,
            rows.ParentRow: self.parents, rows.LabelRow: labels[False], EventRow: self.events,
        }  # fmt: skip
        kinds = rows.stage(self.unit.session, new)
        return partial(self._settle, kinds, skills[True], labels[True])

    def _settle(self, kinds: list[type[tuple]], skills: list[rows.SkillRow], labels: list[rows.LabelRow]) -> None:
        session, at = self.unit.session, self.chain.common["created_at"]
        rows.insert(session, kinds, workspace_id=self.unit.workspace_id, actor=self.unit.scope.actor, at=at)
        rows.move(session, skills=skills, labels=labels, at=at)

    def _record(self, kind: str, subject_id: str, payload: dict[str, Any]) -> None:
        self.events.append(self.chain.row(kind, subject_id, payload))

    def _create(self, name: str, kind: str) -> rows.Standing:
        skill = rows.Standing(new_id("skl"), name, kind, "published", 0, known=False)
        self.skills[name] = self.changed[name] = skill
        self._record("skill.created", skill.id, {"skill": name, "kind": kind})
        return skill

    def _next(self, skill: rows.Standing, line: Line, content: Publishable) -> rows.Pointer:
        """The next version, under its labels."""
        newest = skill.labels.get(LATEST)
        skill.last_number += 1
        self.changed[skill.name] = skill
        version = self._version(skill, line, content)
        self.versions.append(version)
        self.files += [rows.FileRow(version.id, path, mode, f"\\x{data.hex()}") for path, mode, data in content.files]
        if newest is not None:
            self.parents.append(rows.ParentRow(version.id, newest.version_id, "import"))
        self._record_version(skill, version)
        for label in dict.fromkeys([LATEST, line.label or LATEST]):
            self._move(skill, label, version)
        return skill.labels[LATEST]

    def _version(self, skill: rows.Standing, line: Line, content: Publishable) -> rows.VersionRow:
        return rows.VersionRow(
            id=new_id("ver"),
            skill_id=skill.id,
            number=skill.last_number,
            content_sha256=content.sha256,
            document=line.document,
            description=content.description,
            message=line.message,
        )

    def _record_version(self, skill: rows.Standing, version: rows.VersionRow) -> None:
        facts = {"skill_id": skill.id, "skill": skill.name, "kind": skill.kind, "number": version.number}
        payload = {**facts, "content_sha256": version.content_sha256, "candidate_id": None}
        self._record("version.published", version.id, payload)

    def _move(self, skill: rows.Standing, label: str, version: rows.VersionRow) -> None:
        before = skill.labels.get(label)
        revision = (before.revision if before else skill.removed.get(label, 0)) + 1
        known = before is not None and before.known
        pointer = rows.Pointer(version.id, version.number, version.content_sha256, revision, known=known)
        skill.labels[label] = self.moved[skill.id, label] = pointer
        facts = {"skill_id": skill.id, "skill": skill.name, "label": label, "version_id": version.id}
        payload = {**facts, "number": version.number, "from_version_id": before.version_id if before else None}
        self._record("label.moved", skill.id, payload)

    def _row(self, skill: rows.Standing) -> rows.SkillRow:
        return rows.SkillRow(skill.id, skill.name, skill.kind, skill.state, skill.last_number)

    def _label(self, place: tuple[str, str], to: rows.Pointer) -> rows.LabelRow:
        return rows.LabelRow(*place, to.version_id, to.revision)
