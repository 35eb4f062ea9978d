"""OpenTelemetry's own exporter against a real web process."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

import hgmem
from hgmem.runtime.offline import OfflineClient
from memory.actions.traces import write_traces
from memory.models import Task, Trace
from tests.conftest import Cast, make_key
from tests.hgmem.spans import tracing_to
from tests.servers import start_web

export = pytest.importorskip("opentelemetry.sdk.trace.export")
otlp = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
pytestmark = pytest.mark.django_db(transaction=True)


def run_agent(provider: Any) -> None:
    """One call that only instrumentation sees, one that the guard records as well, one that fails."""
    book = hgmem.guard(lambda seat: f"booked {seat}", name="book", client=OfflineClient())
    tracer = provider.get_tracer("agents")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    with tracer.start_as_current_span("invoke_agent helper", attributes=agent):
        with tracer.start_as_current_span("execute_tool search") as span:
            span.set_attributes(
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "search",
                    "gen_ai.tool.call.arguments": '{"to": "Oslo"}',
                    "gen_ai.tool.call.result": '{"seats": ["7A"]}',
                }
            )
        with tracer.start_as_current_span("book", attributes={"openinference.span.kind": "TOOL"}):
            book("7A")
        failing = {"traceloop.span.kind": "tool", "traceloop.entity.name": "pay"}
        with (
            pytest.raises(TimeoutError),
            tracer.start_as_current_span("pay.tool", attributes=failing),
        ):
            raise TimeoutError("no answer")


def test_exporter__instrumented_agent__becomes_a_task(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_web(var=tmp_path) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{url}/api/v1/traces")
        headers = f"authorization=Bearer {make_key(cast.workspace)}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", headers)
        for compression in ("none", "gzip"):
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
            with tracing_to(export.BatchSpanProcessor(otlp.OTLPSpanExporter())) as provider:
                run_agent(provider)
                assert provider.force_flush()

    Trace.objects.update(news_at=timezone.now() - timedelta(seconds=60))
    write_traces()

    for task in Task.objects.all():
        check_task(task)
    assert Task.objects.count() == 2


def check_task(task: Task) -> None:
    """The call that the guard recorded is not in it."""
    search, pay = task.calls.all()
    assert (task.agent, task.framework, task.final) == ("helper", "agents", True)
    assert (search.tool, search.input, search.output, search.status) == (
        "search", {"to": "Oslo"}, {"seats": ["7A"]}, "ok",
    )  # fmt: skip
    assert (pay.tool, pay.status, pay.error["type"], pay.error["message"]) == (
        "pay", "error", "TimeoutError", "no answer",
    )  # fmt: skip
