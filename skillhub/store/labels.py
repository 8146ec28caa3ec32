"""SQL of labels."""

from collections.abc import Collection, Sequence

from sqlalchemy import text, tuple_
from sqlmodel import Session, col, select

from skillhub.models import Label, Skill, Version
from skillhub.store import keyset
from skillhub.store.keyset import Start

ORDERS = {"name": ("name",)}
_REMOVED = text("""
SELECT subject_id, payload ->> 'label', max((payload ->> 'revision')::int) FROM event
WHERE workspace_id = :workspace_id AND subject_id = ANY(:skill_ids) AND kind = 'label.removed' GROUP BY 1, 2
""")


def get(session: Session, *, skill_id: str, name: str) -> Label | None:
    """The label as it stands in the database now, not as this session read it before."""
    query = select(Label).where(Label.skill_id == skill_id, Label.name == name)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def removed(session: Session, *, workspace_id: str, skill_ids: Collection[str]) -> dict[tuple[str, str], int]:
    """`(skill id, label)` -> the revision that a label had when it was taken away; a new one of that name counts on from it."""
    found = session.execute(_REMOVED, {"workspace_id": workspace_id, "skill_ids": list(skill_ids)})
    return {(skill_id, label): revision for skill_id, label, revision in found}


def page(session: Session, *, skill_id: str, start: Start) -> Sequence[Label]:
    """Labels of a skill."""
    return keyset.page(session, select(Label).where(Label.skill_id == skill_id), Label, orders=ORDERS, start=start)


def known(session: Session, *, workspace_id: str, wanted: Sequence[tuple[str, str]]) -> list[tuple[str, Label, Version]]:
    """`(skill, label, version)` of those `(skill, label)` that are there, in the order of `wanted`."""
    query = (
        select(Skill.name, Label, Version)
        .join(Label, col(Label.skill_id) == col(Skill.id))
        .join(Version, col(Version.id) == col(Label.version_id))
        .where(Skill.workspace_id == workspace_id, tuple_(col(Skill.name), col(Label.name)).in_(wanted))
    )
    found = {(name, label.name): (name, label, version) for name, label, version in session.exec(query)}
    return [found[pair] for pair in wanted if pair in found]


def numbers(session: Session, *, skill_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Skill id -> label -> number of its version."""
    query = select(Label.skill_id, Label.name, Version.number).join(Version, col(Version.id) == col(Label.version_id))
    found: dict[str, dict[str, int]] = {skill_id: {} for skill_id in skill_ids}
    for skill_id, name, number in session.exec(query.where(col(Label.skill_id).in_(skill_ids)).order_by(Label.name)):
        found[skill_id][name] = number
    return found
