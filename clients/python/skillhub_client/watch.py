"""Following the event log over one connection that is made again where it breaks. Shared by the sync and the async client."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from skillhub_client.models import Event
from skillhub_client.transport import Call, Exchange, Retries, build_request

STREAM = "text/event-stream"
SILENCE_SECONDS = 45.0
"""The server gives a sign of life every 15 s; after this long without one the connection counts as broken."""


@dataclass
class Watch:
    """One watch: which event was seen last, and how often in a row the connection failed. `read` takes the stream by lines."""

    filters: dict[str, Any]
    after: int
    retries: Retries
    failures: int = 0
    _data: list[str] = field(default_factory=list)

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The next connection, from the last event on."""
        self._data = []
        params = self.filters | {"after": self.after}
        call = Call("GET", "/v1/events", read=lambda response: None, params=params, headers={"Accept": STREAM})
        request = build_request(http, call)
        request.extensions["timeout"] = httpx.Timeout(SILENCE_SECONDS).as_dict()
        return request

    def read(self, line: str) -> Event | None:
        """The event that this line ends, if it does."""
        self.failures = 0
        if line.startswith("data:"):
            self._data.append(line.removeprefix("data:").removeprefix(" "))
        if line or not self._data:
            return None
        event = Event.model_validate_json("\n".join(self._data))
        self.after, self._data = event.seq, []
        return event

    def refused(self, request: httpx.Request, response: httpx.Response) -> float:
        """Seconds to wait where the answer is an error that may pass. Raises where it is a final one."""
        return self._exchange(request).after_answer(response, self.failures) or 0.0

    def broken(self, request: httpx.Request, error: httpx.HTTPError | None) -> float:
        """Seconds to wait after the connection broke, or was closed by the server (None). Raises after too many in a row."""
        self.failures += 1
        lost = httpx.ReadError("the stream ended") if error is None or isinstance(error, httpx.ReadTimeout) else error
        return self._exchange(request).after_failure(lost, self.failures)

    def _exchange(self, request: httpx.Request) -> Exchange:
        return Exchange(request, self.retries)
