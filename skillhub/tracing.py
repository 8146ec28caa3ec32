"""One trace through API, database and workers. In and out: a W3C `traceparent`, the text under which a row remembers its cause.

A row that work goes on from (episode, job, candidate) keeps the `traceparent` of the span that made it; who goes on from the
row continues that trace, or links to it where there are several. Without an OTLP endpoint nothing is recorded or kept.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

MAX_LINKS = 32
_HEADER = "traceparent"
_PROPAGATOR = TraceContextTextMapPropagator()
_TRACER = trace.get_tracer("skillhub")


def configure(service: str) -> None:
    """Send spans to the endpoint that the standard variables name; without one do nothing. Once a process, at its start."""
    if not (os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")):
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", service)}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def current() -> str | None:
    """The `traceparent` of the span that is open now; None where nothing is recorded."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get(_HEADER)


@contextmanager
def continued(name: str, traceparent: str | None, **attributes: str | int) -> Iterator[Span]:
    """A span in the trace of `traceparent` (in the open one where there is none), linked to the span that is open now."""
    here = trace.get_current_span().get_span_context()
    links = [Link(here)] if traceparent and here.is_valid else []
    context = _extracted(traceparent) if traceparent else None
    with _TRACER.start_as_current_span(name, context=context, links=links, attributes=attributes) as span:
        yield span


def link(traceparents: Iterable[str | None]) -> None:
    """Link the open span to others that it goes on from; the first of each trace, at most MAX_LINKS."""
    span = trace.get_current_span()
    if span.is_recording():
        contexts = {found.trace_id: found for found in map(_span_context, filter(None, traceparents))}
        for found in islice(contexts.values(), MAX_LINKS):
            span.add_link(found)


def _extracted(traceparent: str) -> Context:
    return _PROPAGATOR.extract({_HEADER: traceparent}, context=Context())


def _span_context(traceparent: str) -> SpanContext:
    return trace.get_current_span(_extracted(traceparent)).get_span_context()
