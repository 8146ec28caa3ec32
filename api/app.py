"""The HTTP API: settings in, a FastAPI application out. Routes translate; use cases decide."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api import problems
from api.limits import BodyLimit
from api.routes import (
    bulk,
    candidates,
    curation,
    episodes,
    events,
    gates,
    health,
    jobs,
    lineage,
    search,
    skills,
    suites,
    trials,
    ui_sessions,
    web,
)
from api.routes.bulk import IMPORT_PATH, MAX_BODY_BYTES
from skillhub import __version__
from skillhub.config import Settings
from skillhub.retrieval import embed
from skillhub.retrieval.reader import Reader
from skillhub.services.search import Searcher
from skillhub.store.session import Database

ROUTES = (
    health, skills, bulk, lineage, events, ui_sessions, web, episodes, search,
    suites, curation, candidates, gates, trials, jobs,
)  # fmt: skip


def create_app(settings: Settings, *, announce: Callable[[str], None]) -> FastAPI:
    """`announce(job_id)` tells the workers that a job waits."""
    description = "The memory that trains with your agents."
    app = FastAPI(title="skillhub", version=__version__, description=description, lifespan=_run_reader)
    app.state.settings = settings
    app.state.announce = announce
    app.state.database = Database(settings.database_url)
    encoder = embed.shared(settings.embedding_model, settings.embedding_threads)
    app.state.reader = Reader(app.state.database, encoder)
    app.state.searcher = Searcher(app.state.reader, wait_seconds=settings.search_wait_seconds)
    app.state.migrated = False
    app.add_middleware(BodyLimit, most=settings.max_body_bytes, streams={IMPORT_PATH: MAX_BODY_BYTES})
    problems.install(app)
    for module in ROUTES:
        app.include_router(module.router)
    return app


@asynccontextmanager
async def _run_reader(app: FastAPI) -> AsyncIterator[None]:
    """The reading index follows the event log while the application runs."""
    app.state.reader.start()
    yield
    app.state.reader.stop()
