"""The HTTP API: settings in, a FastAPI application out. Routes translate; use cases decide."""

from collections.abc import Callable

from fastapi import FastAPI

from api import problems
from api.routes import health
from skillhub import __version__
from skillhub.config import Settings
from skillhub.store.session import Database

ROUTES = (health,)


def create_app(settings: Settings, *, announce: Callable[[str], None]) -> FastAPI:
    """`announce(job_id)` tells the workers that a job waits."""
    app = FastAPI(title="skillhub", version=__version__, description="The memory that trains with your agents.")
    app.state.settings = settings
    app.state.announce = announce
    app.state.database = Database(settings.database_url)
    problems.install(app)
    for module in ROUTES:
        app.include_router(module.router)
    return app
