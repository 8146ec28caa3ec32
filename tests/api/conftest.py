"""The application over a real database, called in process with an admin key."""

import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from fastapi.testclient import TestClient
from sse_starlette.sse import AppStatus

from api.app import create_app
from skillhub.config import Settings
from skillhub.services import keys
from skillhub.services.scope import Scope

SECRET = "a-secret-of-the-tests"


@pytest.fixture
def announced() -> list[str]:
    """Ids of the jobs the API announced."""
    return []


@pytest.fixture
def api(scope: Scope, database_url: str, announced: list[str]) -> Iterator[TestClient]:
    key = keys.create_key(scope, name="tests", secret=SECRET)
    app = create_app(Settings(database_url=database_url, secret=SECRET), announce=announced.append)
    with TestClient(app, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def served(scope: Scope, database_url: str) -> Iterator["Served"]:
    """The application behind a real socket, for what an in-process client cannot show: streams, cut connections, the end."""
    server = Served(scope, database_url)
    server.start()
    yield server
    server.stop()


class Served:
    """A server in a thread of this process."""

    def __init__(self, scope: Scope, database_url: str, **settings: object) -> None:
        self.key = keys.create_key(scope, name="served", secret=SECRET)
        self._settings = Settings(database_url=database_url, secret=SECRET, **settings)
        self.port = 0

    def start(self) -> None:
        """Listen: on a free port, then always on the same."""
        app = create_app(self._settings, announce=lambda job_id: None)
        self._socket = socket.create_server(("127.0.0.1", self.port))
        self.port = self._socket.getsockname()[1]
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()

    def stop(self) -> None:
        """End as a signal would make it end, and wait for that."""
        AppStatus.should_exit = self._server.should_exit = True
        self._thread.join(timeout=30)
        AppStatus.should_exit = False
        assert not self._thread.is_alive()
        self._socket.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}
