"""Skills, versions, labels, lineage, events."""

from datetime import datetime
from typing import Any

from pydantic import Field

from skillhub_client.models.base import Answer, Input


class SkillFile(Input):
    """A bundled file of a skill other than SKILL.md."""

    path: str
    content_base64: str
    mode: int = 0o644


class Parent(Answer):
    number: int
    version_id: str
    relation: str


class Version(Answer):
    """An immutable snapshot of a skill."""

    id: str
    skill: str
    kind: str
    number: int
    content_sha256: str
    document: str
    description: str
    message: str = ""
    created_by: str
    created_at: datetime
    candidate_id: str | None = None
    parents: tuple[Parent, ...] = ()
    held_because: str | None = None
    """Why it is held back and shown to no agent."""


class Skill(Answer):
    """A named document with its labels (label name -> version number)."""

    id: str
    name: str
    kind: str
    state: str
    created_at: datetime
    labels: dict[str, int] = Field(default_factory=dict)
    latest_version: Version | None = None


class Label(Answer):
    """A movable pointer; `revision` counts its moves and guards the next one."""

    skill: str
    label: str
    number: int
    version_id: str
    revision: int
    moved_at: datetime


class LabelMove(Answer):
    """One move of a label; `version_id` is None where it was removed."""

    seq: int
    number: int | None = None
    version_id: str | None = None
    from_version_id: str | None = None
    reason: str = ""
    actor: str
    created_at: datetime


class PartsDiff(Answer):
    """Names of the parts that differ."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: bool = False


class Diff(Answer):
    """What makes one version of another; `text` is a unified diff, None for very long documents."""

    metadata: PartsDiff
    sections: PartsDiff
    files: PartsDiff
    text: str | None = None


class Branch(Answer):
    """A named line of candidates: the version it starts from, and the newest candidate on it."""

    id: str
    skill: str
    name: str
    state: str
    base: int
    base_version_id: str
    head_id: str | None = None
    created_by: str
    created_at: datetime
    closed_at: datetime | None = None


class Fault(Answer):
    """Why something was refused; `errors` hold `path`, `message` and, where it is known, `line`."""

    code: str
    status: int
    detail: str
    errors: tuple[dict[str, Any], ...] = ()


class Imported(Answer):
    """What became of one skill folder; `number` is None where it was refused."""

    folder: str
    skill: str | None = None
    number: int | None = None
    version_id: str | None = None
    error: Fault | None = None


class Imports(Answer):
    results: tuple[Imported, ...]


class Lineage(Answer):
    """The DAG over versions, candidates, decisions, evidence and episodes of a skill."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]


class Sentence(Answer):
    """One line of a document with the version, decision and evidence it came from."""

    line: int
    text: str
    anchor: str | None = None
    introduced_in: int
    candidate_id: str | None = None
    decision: dict[str, Any] | None = None
    evidence: tuple[dict[str, Any], ...] = ()


class Blame(Answer):
    sentences: list[Sentence]


class Event(Answer):
    """One row of the hash-chained log; `seq` is the change token."""

    seq: int
    kind: str
    subject_id: str
    payload: dict[str, Any] = Field(default_factory=dict)
    actor: str
    created_at: datetime


class UiSession(Answer):
    """A signed link that opens the web view in a browser."""

    url: str
    expires_at: datetime


class LabelList(Answer):
    labels: list[Label]


class VersionList(Answer):
    versions: list[Version]


class SkillList(Answer):
    skills: list[Skill]
