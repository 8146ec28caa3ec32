"""SQL of skills."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from skillhub.models import Label, Skill
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = {"name": ("name",), **BY_TIME}


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


def page(session: Session, *, workspace_id: str, start: Start, label: str | None = None, **filters: Any) -> Sequence[Skill]:
    """Skills with these values, with a label of that name where one is given."""
    query = keyset.filtered(select(Skill).where(Skill.workspace_id == workspace_id), Skill, filters)
    if label is not None:
        query = query.where(col(Skill.id).in_(select(Label.skill_id).where(Label.name == label)))
    return keyset.page(session, query, Skill, orders=ORDERS, start=start)
