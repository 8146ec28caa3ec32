"""SQL of workspaces."""

from sqlmodel import Session, func, select

from skillhub.models import Episode, Event, Skill, Version

_COUNTED = {"skills": Skill, "versions": Version, "episodes": Episode, "events": Event}


def counts(session: Session, workspace_id: str) -> dict[str, int]:
    """`{noun: rows}` of a workspace."""
    return {
        noun: session.exec(select(func.count()).select_from(model).where(model.workspace_id == workspace_id)).one()
        for noun, model in _COUNTED.items()
    }
