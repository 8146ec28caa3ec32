"""Keys of a workspace, and the workspace itself."""

from fastapi import APIRouter, Request, Response

from api.deps import ScopeDep
from api.pages import Page, PageDep
from api.schemas.keys import KeyIn, KeyOut, NewKeyOut, RotateIn, WorkspaceOut
from skillhub.services import keys, workspaces

router = APIRouter(prefix="/v1", tags=["keys"])


@router.get("/workspace")
def get_workspace(scope: ScopeDep) -> WorkspaceOut:
    """The workspace that this key opens, and how much is in it."""
    return WorkspaceOut.of(workspaces.get(scope))


@router.get("/keys")
def list_keys(scope: ScopeDep, page: PageDep) -> Page[KeyOut]:
    """All keys of the workspace, newest first. The keys themselves are not stored and cannot be shown."""
    rows = keys.page(scope, before=page.after, limit=page.fetch)
    return page.page(rows, key=lambda key: key.id, item=KeyOut.of)


@router.post("/keys", status_code=201)
def create_key(body: KeyIn, scope: ScopeDep, request: Request) -> NewKeyOut:
    """A new key, shown only now. It takes no `Idempotency-Key`: an answer that is kept would be a key that is kept."""
    row, key = keys.create(scope, secret=request.app.state.settings.secret, **body.facts())
    return NewKeyOut.of_new(row, key)


@router.post("/keys/{key_id}/rotate", status_code=201)
def rotate_key(key_id: str, body: RotateIn, scope: ScopeDep, request: Request) -> NewKeyOut:
    """A successor with the same rights; the old key holds for `grace_seconds` more."""
    secret = request.app.state.settings.secret
    return NewKeyOut.of_new(*keys.rotate(scope, key_id, secret=secret, grace_seconds=body.grace_seconds))


@router.delete("/keys/{key_id}", status_code=204)
def revoke_key(key_id: str, scope: ScopeDep) -> Response:
    """End a key at once, on every replica. 409 for the last admin key that does not expire."""
    keys.revoke(scope, key_id)
    return Response(status_code=204)
