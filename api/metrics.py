"""Numbers for Prometheus: what this process answered, and what stands in the database when it is asked. No tenant is named."""

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from skillhub.retrieval.reader import Reader
from skillhub.services import standing
from skillhub.store.session import Database


class Metrics:
    """The registry of one application."""

    def __init__(self, database: Database, reader: Reader) -> None:
        self.registry = CollectorRegistry()
        labels = ("route", "method", "status")
        self._requests = Counter("skillhub_requests", "Requests answered.", labels, registry=self.registry)
        self._seconds = Histogram("skillhub_request_seconds", "Time to answer.", labels[:2], registry=self.registry)
        self.registry.register(_Standing(database, reader))

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def text(self) -> bytes:
        """Everything, in the text format of Prometheus."""
        return generate_latest(self.registry)


class _Standing(Collector):
    """Read when Prometheus asks."""

    def __init__(self, database: Database, reader: Reader) -> None:
        self._database, self._reader = database, reader

    def describe(self) -> list[Any]:
        """Nothing is known before the first question, and asking the database for it would be early."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = standing.of(self._database)
        yield _family("skillhub_jobs", "Jobs by kind and state.", ("kind", "state"), found.jobs)
        yield _family("skillhub_decisions", "Decisions of gates by verdict.", ("verdict",), found.decisions)
        yield _gauge("skillhub_oldest_waiting_job_seconds", "Age of the oldest job that waits.", found.oldest_waiting_seconds)
        behind, versions = self._reader.standing(found.heads)
        yield _gauge("skillhub_index_lag_events", "Events that the reading index of this process has not seen.", behind)
        yield _gauge("skillhub_index_versions", "Versions in the reading index of this process.", versions)
        yield _gauge("skillhub_database_connections", "Connections this process uses now.", self._database.connections)


def _gauge(name: str, said: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, said, value=value)


def _family(name: str, said: str, labels: tuple[str, ...], rows: dict[tuple[str, ...], int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, said, labels=labels)
    for key, value in rows.items():
        family.add_metric(key, value)
    return family
