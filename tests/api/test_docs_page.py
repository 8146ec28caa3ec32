"""The reference for people is whole, and loads nothing from anywhere else."""

import re

from fastapi.testclient import TestClient

from tests.api.test_contract import OPERATIONS


def test_the_page_shows_every_operation_and_loads_nothing_from_elsewhere(api: TestClient) -> None:
    answer = api.get("/docs")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", answer.text)
    assert "<script" not in answer.text
    for path, method, _ in OPERATIONS:
        assert f'id="{method.upper()}-{path}"' in answer.text
    assert api.get("/redoc").status_code == 404
