"""A body above the limit is refused, whoever sends it and whatever its header says."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from skillhub.config import Settings

MOST = 1000


@pytest.fixture
def small(database_url: str) -> Iterator[TestClient]:
    """An application that takes little; nobody has a key."""
    app = create_app(Settings(database_url=database_url, secret="s", max_body_bytes=MOST), announce=print)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def pieces(count: int) -> Iterator[bytes]:
    """A body whose length nobody knows beforehand."""
    yield from (b" " * 100 for _ in range(count))


def test_a_body_above_the_limit_is_refused_before_the_key_is_asked_for(small: TestClient) -> None:
    for content in (b" " * (MOST + 1), pieces(11)):
        answer = small.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_at_the_limit_is_read(small: TestClient) -> None:
    for content in (b" " * MOST, pieces(10)):
        assert small.post("/v1/search", content=content).status_code == 401
