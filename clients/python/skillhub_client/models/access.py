"""Keys, the workspace they open, and the verified log."""

from datetime import datetime

from skillhub_client.models.base import Answer


class Workspace(Answer):
    """A tenant, and how much is in it."""

    id: str
    name: str
    created_at: datetime
    skills: int
    versions: int
    episodes: int
    events: int


class ApiKey(Answer):
    """A key as a list shows it: never the key itself."""

    id: str
    name: str
    prefix: str
    role: str
    limits: dict[str, int]
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class NewApiKey(ApiKey):
    """A key just made; `key` is shown only here."""

    key: str


class AuditHead(Answer):
    """With it the log up to `seq` can be checked later."""

    workspace_id: str
    seq: int
    sha256: str
    at: datetime
    signature: str


class BrokenEvent(Answer):
    """The first event that does not follow from the one before it."""

    seq: int
    why: str


class AuditVerdict(Answer):
    """What following the chain found; `seq` is where to go on."""

    checked: int
    seq: int
    broken: BrokenEvent | None = None
