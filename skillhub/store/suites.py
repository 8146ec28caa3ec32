"""SQL of suites and their cases."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, func, select

from skillhub.models import Case, Suite
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = {"name": ("name",), **BY_TIME}
CASE_ORDERS = {"key": ("key",)}


def lock(session: Session, *, workspace_id: str, name: str) -> Suite | None:
    """The suite with its row locked: whoever holds it hands out the next place in the stream of candidates."""
    query = select(Suite).where(Suite.workspace_id == workspace_id, Suite.name == name).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def insert_if_missing(session: Session, suite: Suite) -> None:
    statement = insert(Suite).values(**suite.model_dump())
    session.execute(statement.on_conflict_do_nothing(index_elements=["workspace_id", "name"]))


def get(session: Session, suite_id: str) -> Suite | None:
    return session.get(Suite, suite_id)


def named(session: Session, *, workspace_id: str, name: str) -> Suite | None:
    return session.exec(select(Suite).where(Suite.workspace_id == workspace_id, Suite.name == name)).one_or_none()


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Suite]:
    """Suites with these values."""
    query = keyset.filtered(select(Suite).where(Suite.workspace_id == workspace_id), Suite, filters)
    return keyset.page(session, query, Suite, orders=ORDERS, start=start)


def case_page(session: Session, suite_id: str, *, start: Start, **filters: Any) -> Sequence[Case]:
    """Cases of a suite with these values."""
    query = keyset.filtered(select(Case).where(Case.suite_id == suite_id), Case, filters)
    return keyset.page(session, query, Case, orders=CASE_ORDERS, start=start)


def sizes(session: Session, suite_ids: Collection[str]) -> dict[str, int]:
    """Suite id -> how many cases it has."""
    query = select(Case.suite_id, func.count()).where(col(Case.suite_id).in_(suite_ids)).group_by(col(Case.suite_id))
    return dict(session.exec(query).all())


def cases(
    session: Session, suite_id: str, *, split: str | None = None, slices: Collection[str] | None = None
) -> Sequence[Case]:
    """Cases of a suite by key."""
    query = select(Case).where(Case.suite_id == suite_id)
    if split is not None:
        query = query.where(Case.split == split)
    if slices is not None:
        query = query.where(col(Case.slice).in_(slices))
    return session.exec(query.order_by(Case.key)).all()


def cases_by_id(session: Session, ids: Collection[str]) -> dict[str, Case]:
    return {case.id: case for case in session.exec(select(Case).where(col(Case.id).in_(ids)))}


def insert_cases(session: Session, new: Iterable[Case]) -> None:
    session.add_all(list(new))
    session.flush()


def ids_by_name(session: Session, *, workspace_id: str, names: Collection[str]) -> dict[str, str]:
    query = select(Suite.name, Suite.id).where(Suite.workspace_id == workspace_id, col(Suite.name).in_(names))
    return dict(session.exec(query).all())
