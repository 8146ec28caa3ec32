"""Links into the web view."""

from datetime import datetime

from pydantic import BaseModel


class UiSessionOut(BaseModel):
    url: str
    """Opens the web view once followed; good for five minutes."""
    expires_at: datetime
