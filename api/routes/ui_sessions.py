"""Links into the web view."""

from fastapi import APIRouter, Request

from api.deps import ScopeDep
from api.schemas.ui_sessions import UiSessionOut
from skillhub.services import ui_sessions

router = APIRouter(prefix="/v1/ui-sessions", tags=["web"])


@router.post("", status_code=201)
def open_link(request: Request, scope: ScopeDep) -> UiSessionOut:
    """A link that opens the web view with the rights of this key; good for a day."""
    token, expires_at = ui_sessions.open_link(scope, secret=request.app.state.settings.secret)
    return UiSessionOut(url=str(request.url_for("enter").include_query_params(link=token)), expires_at=expires_at)
