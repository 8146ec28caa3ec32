"""The event log as callers read it."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class EventOut(BaseModel):
    seq: int
    kind: str
    subject_id: str
    payload: dict[str, Any]
    actor: str
    created_at: datetime
    prev_sha256: str
    sha256: str
