"""SQL of background jobs."""

from typing import Any

from sqlmodel import Session

from skillhub.ids import new_id
from skillhub.models import Job


def insert(session: Session, *, workspace_id: str, kind: str, payload: dict[str, Any]) -> Job:
    job = Job(id=new_id("job"), workspace_id=workspace_id, kind=kind, payload=payload)
    session.add(job)
    session.flush()
    return job
