"""Bodies of webhooks."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from api.schemas.base import Body, Name, Text
from skillhub.models import Webhook, WebhookDelivery
from skillhub.services import webhooks

Url = Annotated[Text, Field(max_length=2000, examples=["https://receiver.example/skillhub"])]
Kinds = Annotated[list[Name], Field(max_length=50, description="Kinds of events; empty for all")]
MAX_GRACE_SECONDS = 7 * 24 * 3600


class WebhookIn(Body):
    url: Url
    kinds: Kinds = Field(default=[])


class WebhookPatch(Body):
    """What is to change; what is absent stays."""

    url: Url | None = None
    kinds: Kinds | None = None
    state: Literal["active", "paused"] | None = None

    @model_validator(mode="after")
    def _something(self) -> "WebhookPatch":
        if not self.changes():
            raise ValueError("nothing is to change")
        return self

    def changes(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class GraceIn(Body):
    grace_seconds: int = Field(default=24 * 3600, ge=0, le=MAX_GRACE_SECONDS)


class WebhookOut(BaseModel):
    id: str
    url: str
    kinds: list[str]
    state: str
    failures: int = Field(description="Deliveries given up in a row")
    after_seq: int = Field(description="Events up to this one have their delivery")
    created_by: str
    created_at: datetime

    @classmethod
    def of(cls, webhook: Webhook) -> "WebhookOut":
        return cls(**webhook.model_dump(exclude={"workspace_id", "secret_number", "previous_until"}))


class WebhookWithSecretOut(WebhookOut):
    secret: str = Field(description="Verifies the signatures; shown here and after a rotation")

    @classmethod
    def with_secret(cls, webhook: Webhook, secret: str) -> "WebhookWithSecretOut":
        return cls(**WebhookOut.of(webhook).model_dump(), secret=webhooks.secret_of(webhook, secret=secret))


class DeliveryOut(BaseModel):
    id: str
    seq: int
    state: str
    attempt: int
    next_attempt_at: datetime
    status: int | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, delivery: WebhookDelivery) -> "DeliveryOut":
        return cls(**delivery.model_dump(exclude={"workspace_id", "webhook_id"}))


class TestedOut(BaseModel):
    seq: int = Field(description="The event that is on its way to this webhook")
