"""Bodies of the audit routes."""

from datetime import datetime

from pydantic import BaseModel, Field

from skillhub.services.audit import Head, Verdict


class HeadOut(BaseModel):
    """Keep it elsewhere: with it the log up to `seq` can be checked later."""

    workspace_id: str
    seq: int
    sha256: str
    at: datetime
    signature: str = Field(description="HMAC-SHA256 under the hub's secret")

    @classmethod
    def of(cls, head: Head) -> "HeadOut":
        return cls(**vars(head))


class BrokenOut(BaseModel):
    seq: int
    why: str


class VerdictOut(BaseModel):
    checked: int = Field(description="Events looked at")
    seq: int = Field(description="The last of them; send it as `after` to go on")
    broken: BrokenOut | None = Field(description="The first event that does not follow from the one before it")

    @classmethod
    def of(cls, verdict: Verdict) -> "VerdictOut":
        broken = BrokenOut(**verdict.broken._asdict()) if verdict.broken else None
        return cls(checked=verdict.checked, seq=verdict.seq, broken=broken)
