"""One trace leads from episodes to the decision, through API, worker and gate: real processes, a collector of OTLP."""

import gzip
import os
from collections import defaultdict
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from skillhub.stack import Stack
from tests.conftest import ROOT
from tests.e2e.test_docs import run
from tests.receiver import Receiver, receiving


def spans_of(collector: Receiver) -> Iterator[Span]:
    """What it was sent as OTLP over HTTP."""
    for headers, body in collector.received:
        content = gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body
        for resource in ExportTraceServiceRequest.FromString(content).resource_spans:
            yield from (span for scope in resource.scope_spans for span in scope.spans)


def test_the_decision_stands_in_the_trace_of_the_extraction_which_links_to_the_episodes(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        with Stack(tmp_path_factory.mktemp("hub")) as stack:
            environment = os.environ | {"SKILLHUB_URL": stack.url, "SKILLHUB_API_KEY": stack.create_key("reader")}
            assert "accepted on cook" in run(ROOT / "docs" / "your-environment.md", environment)
    spans = defaultdict(list)
    for span in spans_of(collector):
        spans[span.name].append(span)
    asked = {span.trace_id for span in spans["POST /v1/curation/extract"]}
    recorded = {span.trace_id for span in spans["POST /v1/episodes/batch"]}
    [job] = [span for span in spans["job curation.extract_skills"] if span.links]
    decided = [span for span in spans["gate.decide"] if span.trace_id == job.trace_id]
    assert job.trace_id in asked
    assert {link.trace_id for link in job.links} <= recorded
    assert "accepted" in {item.value.string_value for span in decided for item in span.attributes}
    assert {link.trace_id for span in decided for link in span.links} <= {
        span.trace_id for span in spans["POST /v1/trials/{trial_id}/finish"]
    }
