"""An HTTP server of the tests that keeps what it is sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(ThreadingHTTPServer):
    """Keeps each request that it takes; `answers` gives the status of each, 204 when they are used up."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.redirect_to = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.answers.pop(0) if self.server.answers else 204
        if status < 400:
            self.server.received.append((dict(self.headers), body))
        self.send_response(status)
        if self.server.redirect_to:
            self.send_header("Location", self.server.redirect_to)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Quiet."""


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    with Receiver(port) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
