"""How often a key may call: counted in the broker's Redis, so that all replicas share the count; in memory where there is none.

When the count cannot be read, reads and records go through, and what publishes or administers is refused: an outage of the
counter must not stop agents, and must not open the door to a flood of publications either.
"""

import logging
import time
from dataclasses import dataclass

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter

from skillhub.config import Settings
from skillhub.errors import RateLimited, Unavailable
from skillhub.models import ApiKey

log = logging.getLogger("skillhub.limits")

READS, WRITES, PUBLICATIONS = "reads", "writes", "publications"
LIMITS = {
    "reads_per_minute": (READS, RateLimitItemPerMinute),
    "writes_per_minute": (WRITES, RateLimitItemPerMinute),
    "publications_per_minute": (PUBLICATIONS, RateLimitItemPerMinute),
    "publications_per_day": (PUBLICATIONS, RateLimitItemPerDay),
}
"""Name in `Settings` and in a key's own limits -> what it counts, over how long."""
ANSWER_SECONDS = 0.25
"""Longest wait for the counter."""
QUIET_SECONDS = 1.0
"""After a failure the counter is not asked for this long."""


@dataclass(frozen=True)
class Allowance:
    """What is left of the narrowest limit after a call."""

    limit: int
    remaining: int
    reset_seconds: int


class Limiter:
    """Counts the calls of keys; one a process."""

    def __init__(self, settings: Settings) -> None:
        self._defaults = {name: getattr(settings, name) for name in LIMITS}
        self._counter = SlidingWindowCounterRateLimiter(_storage(settings.broker_url))
        self._quiet_until = 0.0

    def count(self, key: ApiKey, kind: str) -> Allowance | None:
        """Count one call of a kind; None where it could not be counted.

        Errors: RateLimited where a limit is used up; Unavailable where a publication cannot be counted.
        """
        items = self._items(key, kind)
        try:
            if time.monotonic() < self._quiet_until:
                raise StorageError(ConnectionError("the counter failed a moment ago"))
            return min((self._hit(item, key.id, kind) for item in items), key=lambda left: left.remaining)
        except StorageError as error:
            return self._uncounted(kind, error)

    def _items(self, key: ApiKey, kind: str) -> list[RateLimitItem]:
        numbers = self._defaults | key.limits
        return [item(numbers[name]) for name, (counted, item) in LIMITS.items() if counted == kind]

    def _hit(self, item: RateLimitItem, key_id: str, kind: str) -> Allowance:
        allowed = self._counter.hit(item, key_id, kind)
        window = self._counter.get_window_stats(item, key_id, kind)
        seconds = max(1, round(window.reset_time - time.time()))
        if not allowed:
            used_up = f"this key has used up its {item.amount} {kind} per {item.GRANULARITY.name}"
            raise RateLimited(used_up, retry_after_seconds=seconds)
        return Allowance(item.amount, window.remaining, seconds)

    def _uncounted(self, kind: str, error: StorageError) -> None:
        if time.monotonic() >= self._quiet_until:
            log.warning("calls are not counted: %s", error)
            self._quiet_until = time.monotonic() + QUIET_SECONDS
        if kind == PUBLICATIONS:
            raise Unavailable("calls cannot be counted right now, so nothing is published", retry_after_seconds=2)


def _storage(broker_url: str):
    if not broker_url.startswith(("redis://", "rediss://")):
        return storage_from_string("memory://")
    waits = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": ANSWER_SECONDS}
    return storage_from_string(broker_url, wrap_exceptions=True, **waits)
