"""SQL of labels."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from skillhub.models import Label, Version


def get(session: Session, *, skill_id: str, name: str) -> Label | None:
    """The label as it stands in the database now, not as this session read it before."""
    query = select(Label).where(Label.skill_id == skill_id, Label.name == name)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def numbers(session: Session, *, skill_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Skill id -> label -> number of its version."""
    query = select(Label.skill_id, Label.name, Version.number).join(Version, col(Version.id) == col(Label.version_id))
    found: dict[str, dict[str, int]] = {skill_id: {} for skill_id in skill_ids}
    for skill_id, name, number in session.exec(query.where(col(Label.skill_id).in_(skill_ids)).order_by(Label.name)):
        found[skill_id][name] = number
    return found
