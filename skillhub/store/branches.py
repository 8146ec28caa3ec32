"""SQL of branches."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session, select

from skillhub.models import Branch
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME


def named(session: Session, *, skill_id: str, name: str, lock: bool = False) -> Branch | None:
    """The branch of a skill, as it stands in the database now; its row locked where asked."""
    query = select(Branch).where(Branch.skill_id == skill_id, Branch.name == name)
    query = query.with_for_update(key_share=True) if lock else query
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def page(session: Session, *, skill_id: str, start: Start, **filters: Any) -> Sequence[Branch]:
    """Branches of a skill with these values."""
    query = keyset.filtered(select(Branch).where(Branch.skill_id == skill_id), Branch, filters)
    return keyset.page(session, query, Branch, orders=ORDERS, start=start)
