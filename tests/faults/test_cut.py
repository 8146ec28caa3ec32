"""Promise 2: a retry after an unknown commit is safe, whichever connection was cut between COMMIT and the reply."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import sqlalchemy as sa
import uvicorn
from fastapi.testclient import TestClient

from api.app import create_app
from skillhub.config import Settings
from skillhub.embedded import SOCKET
from skillhub.services import keys
from skillhub.services.scope import Scope

SECRET = "a-secret-of-the-tests"
CUTS = 6


class Proxy:
    """A unix socket before PostgreSQL. Armed, it lets the COMMIT of a publication through and keeps the reply back."""

    def __init__(self, folder: Path, server: str) -> None:
        self.armed = threading.Event()
        self.cuts = 0
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                cut = threading.Event()
                threading.Thread(target=self._forward, args=(client, server, cut), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client, cut), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        publishes = False
        with suppress(OSError):
            while data := client.recv(1 << 16):
                publishes = publishes or b"INSERT INTO version" in data
                if publishes and b"COMMIT" in data and self.armed.is_set():
                    self.armed.clear()
                    cut.set()
                server.sendall(data)
            server.close()

    def _answer(self, server: socket.socket, client: socket.socket, cut: threading.Event) -> None:
        """What PostgreSQL says, until the reply to the COMMIT: it has come, so the change is stored, and is kept back."""
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if cut.is_set():
                    self.cuts += 1
                    break
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
            server.close()


@pytest.fixture
def proxy(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, str]]:
    """The proxy and the URL of the database through it."""
    parts = urlsplit(database_url)
    folder = tmp_path_factory.mktemp("cut")
    proxy = Proxy(folder, f"{parse_qs(parts.query)['host'][0]}/{SOCKET}")
    yield proxy, parts._replace(query=f"host={quote(str(folder), safe='/')}").geturl()
    proxy.close()


def body(name: str) -> dict[str, str]:
    return {"name": name, "document": f"---\nname: {name}\ndescription: About {name}.\n---\n\n# {name}\n"}


def rows(scope: Scope, table: str) -> int:
    with scope.transaction() as unit:
        return unit.session.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one()


def test_2_cut_between_the_hub_and_its_database_a_retry_makes_nothing_twice(scope: Scope, proxy: tuple[Proxy, str]) -> None:
    cutter, url = proxy
    key = keys.create_key(scope, name="tests", secret=SECRET)
    app = create_app(Settings(database_url=url, secret=SECRET), announce=lambda job_id: None)
    api = TestClient(app, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False)
    unknown = 0
    for number in range(CUTS):
        request = {"json": body(f"skill-{number}"), "headers": {"Idempotency-Key": f"once-{number}"}}
        cutter.armed.set()
        answers = [api.post("/v1/skills", **request) for _ in range(3)]
        unknown += answers[0].status_code != 201
        last = answers[-1]
        assert (last.status_code, last.json()["labels"]) == (201, {"latest": 1, "production": 1}), last.text
    print(f"\nconnection to PostgreSQL cut after COMMIT: {cutter.cuts} cuts, {unknown} answers unknown, "
          f"{rows(scope, 'version')} versions of {CUTS}")  # fmt: skip
    assert cutter.cuts == CUTS
    assert rows(scope, "skill") == rows(scope, "version") == CUTS


def test_2_cut_between_the_client_and_the_hub_a_retry_gets_the_first_answer(scope: Scope, database_url: str) -> None:
    key = keys.create_key(scope, name="tests", secret=SECRET)
    app = create_app(Settings(database_url=database_url, secret=SECRET), announce=lambda job_id: None)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        for number in range(CUTS):
            _send_and_hang_up(listener.getsockname(), key, number)
        api = TestClient(app, headers={"Authorization": f"Bearer {key}"})
        answers = [
            api.post("/v1/skills", json=body(f"skill-{number}"), headers={"Idempotency-Key": f"once-{number}"})
            for number in range(CUTS)
            for _ in range(2)
        ]
    finally:
        server.should_exit = True
        thread.join()
    print(f"\n{CUTS} clients hung up before the answer: {rows(scope, 'version')} versions after the retries")
    assert {answer.status_code for answer in answers} == {201}
    assert rows(scope, "skill") == rows(scope, "version") == CUTS


def _send_and_hang_up(address: tuple[str, int], key: str, number: int) -> None:
    content = json.dumps(body(f"skill-{number}"), separators=(",", ":"), ensure_ascii=False).encode()
    head = (
        f"POST /v1/skills HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: once-{number}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    with socket.create_connection(address) as connection:
        connection.sendall(head.encode() + content)
