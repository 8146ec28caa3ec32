"""SQL of optimisations, their journal and their screening trials."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import text, tuple_
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlmodel import Session, col, func, select, update

from skillhub.models import Optimisation, OptimisationDraft, OptimisationStep, ScreeningTrial
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME
STEP_ORDERS = {"position": ("position",)}
_WAITING = text("""
SELECT t.id FROM screening_trial t JOIN optimisation o ON o.id = t.optimisation_id
WHERE t.workspace_id = :workspace_id AND t.state = 'pending' AND o.state = 'running'
  AND (:any_suite OR o.suite_id = ANY(:suite_ids))
ORDER BY t.attempt DESC, o.spent, t.id LIMIT :limit FOR UPDATE OF t SKIP LOCKED
""")
"""Those that were given back first; then of the search that has paid least, so that many searches advance together."""


def get(session: Session, optimisation_id: str) -> Optimisation | None:
    return session.get(Optimisation, optimisation_id)


def lock(session: Session, optimisation_id: str) -> Optimisation | None:
    """The row locked: one worker at a time moves a search."""
    query = select(Optimisation).where(Optimisation.id == optimisation_id).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Optimisation]:
    """Optimisations with these values."""
    query = keyset.filtered(select(Optimisation).where(Optimisation.workspace_id == workspace_id), Optimisation, filters)
    return keyset.page(session, query, Optimisation, orders=ORDERS, start=start)


def step_page(session: Session, optimisation_id: str, *, start: Start, **filters: Any) -> Sequence[OptimisationStep]:
    """Steps of a search with these values."""
    query = select(OptimisationStep).where(OptimisationStep.optimisation_id == optimisation_id)
    query = keyset.filtered(query, OptimisationStep, filters)
    return keyset.page(session, query, OptimisationStep, orders=STEP_ORDERS, start=start)


def journal(session: Session, optimisation_id: str) -> Sequence[OptimisationStep]:
    """All steps of a search, in order."""
    query = select(OptimisationStep).where(OptimisationStep.optimisation_id == optimisation_id)
    return session.exec(query.order_by(col(OptimisationStep.position))).all()


def last_steps(session: Session, ids: Collection[str]) -> dict[str, OptimisationStep]:
    """Optimisation id -> its newest step."""
    query = select(OptimisationStep).where(col(OptimisationStep.optimisation_id).in_(ids))
    query = query.ext(distinct_on(col(OptimisationStep.optimisation_id)))
    query = query.order_by(col(OptimisationStep.optimisation_id), col(OptimisationStep.position).desc())
    return {step.optimisation_id: step for step in session.exec(query)}


def of_candidate(session: Session, candidate_id: str) -> OptimisationStep | None:
    """The commit that a candidate stands for."""
    return session.exec(select(OptimisationStep).where(OptimisationStep.candidate_id == candidate_id)).one_or_none()


def keep_draft(session: Session, draft: OptimisationDraft) -> None:
    session.execute(insert(OptimisationDraft).values(**draft.model_dump()).on_conflict_do_nothing())


def drafts(session: Session, optimisation_id: str) -> dict[str, str]:
    """Hash -> document of all drafts of a search."""
    query = select(OptimisationDraft.sha256, OptimisationDraft.document)
    return dict(session.exec(query.where(OptimisationDraft.optimisation_id == optimisation_id)).all())


def documents(session: Session, trials: Iterable[ScreeningTrial]) -> dict[str, str]:
    """Trial id -> the draft it shows."""
    shown = {trial.id: (trial.optimisation_id, trial.sha256) for trial in trials}
    columns = (OptimisationDraft.optimisation_id, OptimisationDraft.sha256)
    query = select(*columns, OptimisationDraft.document).where(tuple_(*map(col, columns)).in_(set(shown.values())))
    found = {(owner, sha256): document for owner, sha256, document in session.exec(query)}
    return {trial_id: found[key] for trial_id, key in shown.items()}


def waiting(session: Session, *, workspace_id: str, suite_ids: Collection[str] | None, limit: int) -> Sequence[str]:
    """Ids of screening trials that wait, locked."""
    values = {"workspace_id": workspace_id, "any_suite": suite_ids is None, "suite_ids": list(suite_ids or ()), "limit": limit}
    return session.execute(_WAITING, values).scalars().all()


def trials_of(session: Session, optimisation_id: str, position: int) -> Sequence[ScreeningTrial]:
    """Trials of a step, in the order that they were asked for."""
    query = select(ScreeningTrial).where(ScreeningTrial.optimisation_id == optimisation_id, ScreeningTrial.position == position)
    return session.exec(query.order_by(col(ScreeningTrial.pair))).all()


def unfinished(session: Session, optimisation_id: str, position: int) -> int:
    """Trials of a step that have neither a score nor failed for good."""
    query = select(func.count()).select_from(ScreeningTrial)
    query = query.where(ScreeningTrial.optimisation_id == optimisation_id, ScreeningTrial.position == position)
    return session.exec(query.where(col(ScreeningTrial.state).in_(("pending", "leased")))).one()


def cancel_pending(session: Session, optimisation_id: str) -> None:
    """Take back the trials of a search that nobody has begun."""
    mine = (ScreeningTrial.optimisation_id == optimisation_id, ScreeningTrial.state == "pending")
    session.exec(update(ScreeningTrial).where(*mine).values(state="cancelled"))
