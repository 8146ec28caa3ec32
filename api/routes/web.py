"""The web view: server-rendered pages without scripts, behind a signed session."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute

from api import problems
from api.routes.candidates import CandidatePage
from api.routes.skills import SkillPage
from api.schemas.skills import MAX_NUMBER, Kind
from api.web import render
from skillhub import documents
from skillhub.errors import NotFound, SkillhubError, Unauthorized
from skillhub.services import candidates, proof, skills, ui_sessions
from skillhub.services.scope import Scope

COOKIE = "skillhub_ui"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_templates = render.environment()


class PageRoute(APIRoute):
    """A route whose errors are pages too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def page(request: Request) -> Response:
            try:
                return await handler(request)
            except SkillhubError as error:
                return html("error.html", status=error.status, error=error)
            except RequestValidationError as error:
                return html("error.html", status=422, error=problems.invalid(error))

        return page


router = APIRouter(include_in_schema=False, route_class=PageRoute)


def html(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(template).render(**values), status_code=status, headers=HEADERS)


def get_viewer(request: Request, session: Annotated[str | None, Cookie(alias=COOKIE)] = None) -> Scope:
    """The scope of the session cookie, else Unauthorized."""
    if session is None:
        raise Unauthorized("ask for a link with `POST /v1/ui-sessions` and open it")
    state = request.app.state
    return ui_sessions.resume(state.database, session=session, secret=state.settings.secret)


ViewerDep = Annotated[Scope, Depends(get_viewer)]


@router.get("/ui/enter")
def enter(request: Request, link: Annotated[str, Query(max_length=2000)]) -> Response:
    """Exchange a link for a session cookie."""
    state = request.app.state
    token, _ = ui_sessions.open_session(state.database, link=link, secret=state.settings.secret)
    response = RedirectResponse(request.url_for("show_skills").path, status_code=303, headers=HEADERS)
    response.set_cookie(
        COOKIE, token, max_age=ui_sessions.SESSION_SECONDS, path="/ui", httponly=True, samesite="lax",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return response


@router.get("/")
@router.get("/ui")
@router.get("/ui/")
def home(request: Request) -> Response:
    """The pages begin with the skills."""
    return RedirectResponse(request.url_for("show_skills").path)


@router.get("/ui/style.css")
def style() -> FileResponse:
    return FileResponse(render.FOLDER / "static" / "style.css", media_type="text/css")


@router.get("/ui/skills")
def show_skills(viewer: ViewerDep, page: SkillPage, kind: Kind | None = None) -> HTMLResponse:
    """All skills, by name."""
    shown = page.page(skills.page(viewer, page.start, kind=kind), row=lambda view: view.skill, item=lambda view: view)
    return html("skills.html", skills=shown.items, next_cursor=shown.next_cursor, kind=kind)


@router.get("/ui/skills/{name}")
def show_skill(name: str, viewer: ViewerDep, version: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None) -> HTMLResponse:
    """A version of a skill, each sentence with its proof."""
    found = proof.of_skill(viewer, name=name, number=version)
    body_line = documents.parse(found.version.document).body_line
    lines = render.document_lines(found.version.document, body_line=body_line, origins=found.origins)
    return html("skill.html", proof=found, lines=list(lines))


@router.get("/ui/candidates")
def show_candidates(viewer: ViewerDep, page: CandidatePage) -> HTMLResponse:
    """All candidates, newest first: also those that were never published."""
    shown = page.page(candidates.page(viewer, page.start), row=lambda view: view.candidate, item=lambda view: view)
    return html("candidates.html", candidates=shown.items, next_cursor=shown.next_cursor)


@router.get("/ui/candidates/{candidate_id}")
def show_candidate(candidate_id: str, viewer: ViewerDep) -> HTMLResponse:
    """A candidate: the change, its evidence, the decision and its paired trials."""
    return html("candidate.html", proof=proof.of_candidate(viewer, candidate_id))


@router.get("/ui/episodes/{episode_id}")
def show_episode(episode_id: str, viewer: ViewerDep) -> HTMLResponse:
    """An episode: its steps, and what was shown in it."""
    return html("episode.html", proof=proof.of_episode(viewer, episode_id))


@router.get("/ui/{unknown:path}")
def show_nothing(unknown: str) -> HTMLResponse:
    """Any other page; the last route, because it takes every path."""
    raise NotFound(f"there is no page {unknown!r}")
