"""What routes ask for: the scope of the caller."""

from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api import roles
from skillhub.errors import Unauthorized
from skillhub.services import keys
from skillhub.services.scope import Scope

_bearer = HTTPBearer(auto_error=False, description="An API key, `shk_...`")


def get_scope(
    request: Request, response: Response, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Scope:
    """Who calls, in which workspace. Errors: Unauthorized without a valid key; Forbidden; RateLimited."""
    if credentials is None:
        raise Unauthorized("send your API key as `Authorization: Bearer shk_...`")
    state = request.app.state
    key = keys.authenticate(state.database, key=credentials.credentials, secret=state.settings.secret)
    request.state.caller = key
    needed = roles.needed(request.scope["route"], request.method)
    roles.check(key.role, needed)
    if left := state.limiter.count(key, roles.COUNTED[needed]):
        response.headers["RateLimit"] = f"limit={left.limit}, remaining={left.remaining}, reset={left.reset_seconds}"
    return Scope(state.database, key.workspace_id, key.id, announce=state.announce, role=key.role)


ScopeDep = Annotated[Scope, Depends(get_scope)]
