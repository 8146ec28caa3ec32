"""The HTTP API: settings in, a FastAPI application out. Routes translate; use cases decide."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import Depends, FastAPI

from api import contract, conventions, mcp, problems, roles
from api.deps import get_scope
from api.feed import Feed
from api.limits import BodyLimit
from api.metrics import Metrics
from api.observe import Observed
from api.requests import RequestId
from api.routes import (
    audit,
    batches,
    branches,
    bulk,
    candidates,
    curation,
    docs,
    episodes,
    events,
    gates,
    health,
    jobs,
    keys,
    labels,
    lineage,
    optimisations,
    quarantine,
    schedules,
    search,
    skills,
    suites,
    transfer,
    trials,
    ui_sessions,
    web,
    webhooks,
)
from api.routes.bulk import IMPORT_PATH, MAX_BODY_BYTES
from skillhub import __version__
from skillhub.config import Settings
from skillhub.retrieval import embed
from skillhub.retrieval.reader import Reader
from skillhub.services import log
from skillhub.services.limits import Limiter
from skillhub.services.search import Searcher
from skillhub.store.session import Database

ROUTES = (
    health, docs, batches, skills, labels, branches, quarantine, transfer, bulk, lineage, events, ui_sessions, web, episodes,
    search, suites, curation, candidates, gates, trials, jobs, schedules, keys, audit,
    webhooks, optimisations,
)  # fmt: skip

OPEN_ROUTES = (health, docs, web)


def create_app(settings: Settings, *, announce: Callable[[str], None]) -> FastAPI:
    """`announce(job_id)` tells the workers that a job waits."""
    description = "The memory that trains with your agents."
    app = FastAPI(
        title="skillhub", version=__version__, description=description, lifespan=_run_reader,
        generate_unique_id_function=contract.operation_id, docs_url=None, redoc_url=None,
        telemetry={"operation_spans": False, "metrics": False, "logs": False},
    )  # fmt: skip
    app.state.settings = settings
    app.state.announce = announce
    app.state.database = Database(settings.database_url)
    encoder = embed.shared(settings.embedding_model, settings.embedding_threads)
    app.state.reader = Reader(app.state.database, encoder)
    app.state.searcher = Searcher(app.state.reader, wait_seconds=settings.search_wait_seconds)
    app.state.feed = Feed(partial(log.heads, app.state.database), most=settings.max_streams)
    app.state.limiter = Limiter(settings)
    app.state.migrated = False
    app.add_middleware(conventions.Representation)
    app.state.metrics = Metrics(app.state.database, app.state.reader)
    app.add_middleware(BodyLimit, most=settings.max_body_bytes, streams={IMPORT_PATH: MAX_BODY_BYTES})
    app.add_middleware(Observed, metrics=app.state.metrics)
    app.add_middleware(RequestId)
    problems.install(app)
    contract.install(app)
    for module in ROUTES:
        who = [] if module in OPEN_ROUTES else [Depends(get_scope)]  # first of all: a stranger learns nothing from a 422
        app.include_router(module.router, dependencies=[*who, Depends(conventions.keep)])
    app.state.mcp = mcp.install(app)
    roles.check_complete(module.router for module in ROUTES)
    return app


@asynccontextmanager
async def _run_reader(app: FastAPI) -> AsyncIterator[None]:
    """The reading index follows the event log while the application runs; the pool is closed after it."""
    app.state.reader.start()
    async with app.state.mcp.running():
        yield
    app.state.reader.stop()
    app.state.database.dispose()
