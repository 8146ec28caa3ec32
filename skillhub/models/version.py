"""Immutable, content-addressed snapshots of a skill and the DAG they form. A trigger refuses UPDATE and DELETE."""

from datetime import datetime

from sqlmodel import Column, Field, ForeignKey, SQLModel, UniqueConstraint

from skillhub.models.base import time_field, workspace_field


class Version(SQLModel, table=True):
    __table_args__ = (UniqueConstraint("skill_id", "number"),)

    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    skill_id: str = Field(foreign_key="skill.id", index=True)
    number: int
    content_sha256: str = Field(index=True)
    """Over path, mode and bytes of all files of the version, SKILL.md included."""
    document: str
    """Text of SKILL.md exactly as published."""
    description: str
    message: str = ""
    created_by: str
    candidate_id: str | None = Field(
        default=None, sa_column=Column(ForeignKey("candidate.id", name="version_candidate_id_fkey", use_alter=True), index=True)
    )
    """The accepted candidate this version came from, where there is one."""
    created_at: datetime = time_field()


class VersionFile(SQLModel, table=True):
    """A bundled file other than SKILL.md."""

    __tablename__ = "version_file"

    version_id: str = Field(foreign_key="version.id", primary_key=True)
    path: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    mode: int = 0o644
    content: bytes


class VersionParent(SQLModel, table=True):
    __tablename__ = "version_parent"

    version_id: str = Field(foreign_key="version.id", primary_key=True)
    parent_id: str = Field(foreign_key="version.id", primary_key=True, index=True)
    workspace_id: str = workspace_field()
    relation: str
    """`edit`, `merge`, `split`, `optimise`, `rollback`, `import` or `extract`."""
