"""SQL of skills."""

from collections.abc import Sequence

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from skillhub.models import Skill


def named(session: Session, *, workspace_id: str, name: str) -> Skill | None:
    return session.exec(select(Skill).where(Skill.workspace_id == workspace_id, Skill.name == name)).one_or_none()


def lock(session: Session, *, workspace_id: str, name: str) -> Skill | None:
    """The skill with its row locked until the transaction ends; whoever holds it hands out the next number."""
    query = select(Skill).where(Skill.workspace_id == workspace_id, Skill.name == name).with_for_update()
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def insert_if_missing(session: Session, skill: Skill) -> bool:
    """False where the workspace already has a skill of that name; never fails on the race."""
    values = skill.model_dump()
    statement = insert(Skill).values(**values).on_conflict_do_nothing(index_elements=["workspace_id", "name"])
    return session.execute(statement.returning(col(Skill.id))).one_or_none() is not None


def page(
    session: Session, *, workspace_id: str, kind: str | None, state: str | None, after: str | None, limit: int
) -> Sequence[Skill]:
    """Skills by name, from the one after `after`."""
    query = select(Skill).where(Skill.workspace_id == workspace_id)
    for column, value in ((Skill.kind, kind), (Skill.state, state)):
        if value is not None:
            query = query.where(column == value)
    if after is not None:
        query = query.where(col(Skill.name) > after)
    return session.exec(query.order_by(Skill.name).limit(limit)).all()
