"""SQL of contexts: what a policy was shown."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session, select

from skillhub.models import Context
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME


def get(session: Session, context_id: str) -> Context | None:
    return session.get(Context, context_id)


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Context]:
    """Contexts with these values."""
    query = keyset.filtered(select(Context).where(Context.workspace_id == workspace_id), Context, filters)
    return keyset.page(session, query, Context, orders=ORDERS, start=start)
