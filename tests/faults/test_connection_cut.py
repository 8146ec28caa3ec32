"""Promise 2: a retry after an unknown commit is safe.

Two proxies cut connections in the worst moment: between API and PostgreSQL after the server has committed (or before it
heard of the commit), and between client and API after the answer was made. The client sends again under the same key.
`SKILLHUB_FAULT_SEEDS=20` for the full load.
"""

import contextlib
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from skillhub_client import Client

from skillhub.embedded import free_port
from skillhub.services import keys
from skillhub.services.scope import Scope
from tests.conftest import ROOT
from tests.faults.conftest import until
from tests.faults.test_worker_kill import count

ROUNDS = 2 * int(os.environ.get("SKILLHUB_FAULT_SEEDS", "3"))
SECRET = "a-secret-of-the-tests"
SOCKET = ".s.PGSQL.5432"
COMMIT = b"COMMIT\x00"
DOCUMENT = "---\nname: {name}\ndescription: How to do it.\n---\n\n# It\n\n1. Do it.\n"
CUTS = ("after the commit", "before the commit", "before the answer")

Connect = Callable[[], socket.socket]


class Proxy:
    """Passes bytes on both ways, one thread each, until `armed` says where to cut the next connection that gets there."""

    def __init__(self, listener: socket.socket, connect: Connect) -> None:
        self.listener = listener
        self.connect = connect
        self.armed: str | None = None
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = self.connect()
                cut_answer = threading.Event()
                for source, target, hook in ((near, far, self._request), (far, near, self._answer)):
                    threading.Thread(target=self._pass, args=(source, target, hook, cut_answer), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, hook: Callable, cut_answer: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(65536)) and hook(data, cut_answer):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _request(self, data: bytes, cut_answer: threading.Event) -> bool:
        if self.armed == "before the commit" and COMMIT in data:
            return self._cut()
        if (self.armed == "after the commit" and COMMIT in data) or (self.armed == "before the answer" and b"POST " in data):
            cut_answer.set()
        return True

    def _answer(self, data: bytes, cut_answer: threading.Event) -> bool:
        """The server has answered, so what was asked of it is done; nobody hears of it."""
        return self._cut() if cut_answer.is_set() else True

    def _cut(self) -> bool:
        self.armed = None
        self.cuts += 1
        return False


@pytest.fixture
def database_proxy(database_url: str, tmp_path: Path) -> Iterator[Proxy]:
    path = f"{parse_qs(urlsplit(database_url).query)['host'][0]}/{SOCKET}"

    def connect() -> socket.socket:
        far = socket.socket(socket.AF_UNIX)
        far.connect(path)
        return far

    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Proxy(listener, connect)


@pytest.fixture
def api_proxy(scope: Scope, database_url: str, database_proxy: Proxy, tmp_path: Path) -> Iterator[Proxy]:
    """A real API process behind a proxy; it reaches PostgreSQL through the other one."""
    parts = urlsplit(database_url)
    address = f"127.0.0.1:{database_proxy.listener.getsockname()[1]}"
    url = f"postgresql://{parts.username}@{address}{parts.path}"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SKILLHUB_DATABASE_URL": url, "SKILLHUB_SECRET": SECRET}
    port = free_port()
    log = tmp_path / "api.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "skillhub.cli", "serve", "--port", str(port)]
        api = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=output, stderr=output)

    def ready() -> bool:
        assert api.poll() is None, log.read_text()
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
        return False

    until(ready, why="the API is ready")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Proxy(listener, lambda: socket.create_connection(("127.0.0.1", port)))
    api.kill()
    api.wait()


def test_a_retry_after_a_cut_connection_gives_one_row(scope: Scope, database_proxy: Proxy, api_proxy: Proxy) -> None:
    key = keys.create_key(scope, name="tests", secret=SECRET)
    url = f"http://127.0.0.1:{api_proxy.listener.getsockname()[1]}"
    chance = random.Random(0)
    cuts = [*CUTS, *chance.choices(CUTS, k=ROUNDS - len(CUTS))]
    for number, cut in enumerate(cuts):
        proxy = api_proxy if cut == "before the answer" else database_proxy
        name = f"skill-{number}"
        with Client(url, key) as client:
            client.health()
            proxy.armed = cut
            created = client.create_skill(name, DOCUMENT.format(name=name))
        assert (created.labels["production"], proxy.armed) == (1, None)
    skills, versions = count(scope, "SELECT count(*) FROM skill"), count(scope, "SELECT count(*) FROM version")
    events = count(scope, "SELECT count(*) FROM event WHERE kind = 'version.published'")
    print(f"\nseed 0, {len(cuts)} creations, each cut once ({', '.join(f'{cuts.count(cut)} {cut}' for cut in CUTS)}) "
          f"and sent again: {skills} skills, {versions} versions, {events} events")  # fmt: skip
    assert database_proxy.cuts + api_proxy.cuts == skills == versions == events == len(cuts)
