"""What routes ask for: the scope of the caller."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from skillhub.errors import Unauthorized
from skillhub.services import keys
from skillhub.services.scope import Scope

_bearer = HTTPBearer(auto_error=False, description="An API key, `shk_...`")


def get_scope(request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> Scope:
    """Who calls, in which workspace; Unauthorized without a valid key."""
    if credentials is None:
        raise Unauthorized("send your API key as `Authorization: Bearer shk_...`")
    state = request.app.state
    key = keys.authenticate(state.database, key=credentials.credentials, secret=state.settings.secret)
    return Scope(database=state.database, workspace_id=key.workspace_id, actor=key.id, announce=state.announce)


ScopeDep = Annotated[Scope, Depends(get_scope)]
