"""The application over a real database, called in process with an admin key."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

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
