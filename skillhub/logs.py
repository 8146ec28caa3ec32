"""Log lines without credentials: text for people, or JSON for machines with the request and trace they belong to."""

import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from skillhub import tracing
from skillhub.safety import secrets

Fields = Callable[[], dict[str, Any]]
_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class TextFormatter(logging.Formatter):
    """One line for people; the facts of a record behind its message."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def format(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={value}" for name, value in getattr(record, "facts", {}).items())
        return secrets.redact(super().format(record) + facts)


class JsonFormatter(logging.Formatter):
    """One JSON object a line. `fields()` gives what is true of all that happens now, such as the request's id."""

    def __init__(self, fields: Fields) -> None:
        super().__init__()
        self._fields = fields

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat()
        line = {"at": at, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        line |= self._fields() | getattr(record, "facts", {})
        if traceparent := tracing.current():
            line["traceparent"] = traceparent
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({name: _told(value) for name, value in line.items()}, ensure_ascii=False)


def configure(kind: str, *, fields: Fields = dict) -> None:
    """Send all that is logged to standard error, as `text` or `json`. Once a process, at its start."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(fields) if kind == "json" else TextFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)


def _told(value: Any) -> Any:
    return secrets.redact(value) if isinstance(value, str) else value
