"""Bodies of keys and workspaces."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.schemas.base import Body, Moment, Name
from skillhub.models import ApiKey
from skillhub.services.workspaces import WorkspaceView

Role = Literal["read", "record", "propose", "publish", "admin"]
MAX_GRACE_SECONDS = 7 * 24 * 3600
Number = Annotated[int | None, Field(ge=1, le=10**9)]


class LimitsIn(Body):
    """What this key may do at most; null means the hub's own limit."""

    reads_per_minute: Number = None
    writes_per_minute: Number = None
    publications_per_minute: Number = None
    publications_per_day: Number = None


class KeyIn(Body):
    name: Name
    role: Role = Field(description="Each role may do what those before it may")
    expires_at: Moment | None = None
    limits: LimitsIn = LimitsIn()

    def facts(self) -> dict[str, Any]:
        facts = self.model_dump(exclude={"limits"})
        return facts | {"limits": self.limits.model_dump(exclude_none=True)}


class RotateIn(Body):
    grace_seconds: int = Field(default=24 * 3600, ge=0, le=MAX_GRACE_SECONDS)


class KeyOut(BaseModel):
    id: str
    name: str
    prefix: str
    role: str
    limits: dict[str, int]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    @classmethod
    def of(cls, row: ApiKey) -> "KeyOut":
        return cls(**row.model_dump(exclude={"workspace_id", "key_hmac"}))


class NewKeyOut(KeyOut):
    key: str = Field(description="The key itself, shown only now")

    @classmethod
    def of_new(cls, row: ApiKey, key: str) -> "NewKeyOut":
        return cls(**row.model_dump(exclude={"workspace_id", "key_hmac"}), key=key)


class WorkspaceOut(BaseModel):
    id: str
    name: str
    created_at: datetime
    skills: int
    versions: int
    episodes: int
    events: int

    @classmethod
    def of(cls, view: WorkspaceView) -> "WorkspaceOut":
        return cls(**view.workspace.model_dump(), **view.counts)
