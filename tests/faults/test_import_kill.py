"""A bulk import that dies leaves whole batches, and the same lines sent again complete it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from skillhub.embedded import free_port
from skillhub.services import keys
from skillhub.services.bulk import BATCH
from skillhub.services.scope import Scope
from tests import chain
from tests.conftest import ROOT
from tests.faults.conftest import until

SECRET = "a-secret-of-the-tests"
LINES = 3 * BATCH
SERVE = """
import sys, uvicorn
from api.app import create_app
from skillhub.config import Settings
from skillhub.retrieval.reader import Reader
Reader.start = Reader.stop = lambda self: None  # nothing is searched here
uvicorn.run(create_app(Settings(), announce=print), port=int(sys.argv[1]), log_level="warning")
"""


@pytest.fixture
def start_api(database_url: str, tmp_path: Path) -> Iterator[Callable[[], tuple[subprocess.Popen, str]]]:
    """Starts the API in a process of its own, which is killed at the end; gives its URL."""
    started: list[subprocess.Popen] = []
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SKILLHUB_DATABASE_URL": database_url, "SKILLHUB_SECRET": SECRET}

    def start() -> tuple[subprocess.Popen, str]:
        port = free_port()
        with open(tmp_path / f"api-{len(started)}.log", "wb") as log:
            command = [sys.executable, "-c", SERVE, str(port)]
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url), why="the API answers")
        return started[-1], url

    yield start
    for process in started:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/readyz").status_code == 200
    return False


def line(index: int) -> bytes:
    document = f"---\nname: s-{index}\ndescription: d\n---\n\nDo step {index}.\n"
    return json.dumps({"name": f"s-{index}", "document": document}).encode() + b"\n"


def count(scope: Scope, table: str) -> int:
    with scope.transaction() as unit:
        return unit.session.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one()


def test_an_import_killed_in_the_middle_leaves_whole_batches_and_completes_when_sent_again(
    scope: Scope, start_api: Callable[[], tuple[subprocess.Popen, str]]
) -> None:
    key = keys.create_key(scope, name="tests", secret=SECRET)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
    process, url = start_api()

    def lines() -> Iterator[bytes]:
        for index in range(LINES):
            if index == 2 * BATCH + BATCH // 2:
                until(lambda: count(scope, "version") > 0, why="a batch is stored")
                process.kill()
            yield line(index)

    with pytest.raises(httpx.TransportError):
        httpx.post(f"{url}/v1/imports/ndjson", content=lines(), headers=headers, timeout=60)
    process.wait()
    left = count(scope, "version")
    whole = left in (BATCH, 2 * BATCH) and count(scope, "label") == 2 * left == 2 * count(scope, "skill")
    with scope.transaction() as unit:
        broken = chain.first_broken(unit.session, scope.workspace_id)
    _, url = start_api()
    again = httpx.post(f"{url}/v1/imports/ndjson", content=map(line, range(LINES)), headers=headers, timeout=60)
    print(f"\nkill -9 in an import of {LINES}: {left} left, whole batches {whole}, chain broken at {broken}, "
          f"sent again: {again.text.count('version_id')} answered, {count(scope, 'version')} stored")  # fmt: skip
    assert (whole, broken) == (True, None)
    assert again.text.count("version_id") == count(scope, "version") == count(scope, "skill") == LINES
    assert count(scope, "event") == 4 * LINES + 1
    with scope.transaction() as unit:
        assert chain.first_broken(unit.session, scope.workspace_id) is None
