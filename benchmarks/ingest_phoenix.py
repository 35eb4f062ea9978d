"""How fast Arize Phoenix persists the same calls as spans. Run by an interpreter that has ``arize-phoenix``.

Starts ``phoenix serve`` on SQLite in a folder of its own, posts OTLP batches of 100 spans (one call each) as
fast as it takes them, and waits until they are in its database. Prints one JSON object.
"""

import gzip
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

BATCHES = 20
START_S = 120.0
PERSIST_S = 120.0


def make_request(batch: dict[str, Any]) -> bytes:
    """A batch as an OTLP request: a trace for each task, a span for each call."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for task in batch["experiences"]:
        trace = os.urandom(16)
        for call in task["calls"]:
            span = spans.add(name=call["tool"], trace_id=trace, span_id=os.urandom(8), kind=1)
            span.start_time_unix_nano = time.time_ns()
            span.end_time_unix_nano = span.start_time_unix_nano + 10**6
            values = {
                "openinference.span.kind": "TOOL",
                "tool.name": call["tool"],
                "input.value": json.dumps(call["input"]),
                "output.value": json.dumps(call["output"]),
                "llm.reasoning": call["reasoning"],
            }
            for key, value in values.items():
                span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=value)))
    return request.SerializeToString()


def free_port() -> int:
    """A port nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def count_spans(database: Path) -> int:
    """Spans that Phoenix has stored."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10) as reader:
            return int(reader.execute("select count(*) from spans").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def post(url: str, body: bytes) -> None:
    """Send one batch; wait when it says that it is full."""
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    request = urllib.request.Request(f"{url}/v1/traces", gzip.compress(body, 1), headers)
    while True:
        try:
            urllib.request.urlopen(request, timeout=60).read()
            return
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            time.sleep(0.2)


def measure(url: str, database: Path, bodies: list[bytes]) -> dict[str, Any]:
    """Spans a second from the first request until the last span is stored."""
    post(url, bodies[0])
    expected, deadline = 100, time.monotonic() + PERSIST_S
    while count_spans(database) < expected and time.monotonic() < deadline:
        time.sleep(0.1)
    begin = time.perf_counter()
    for body in bodies[1:]:
        post(url, body)
    expected, deadline = 100 * len(bodies), time.monotonic() + PERSIST_S
    while count_spans(database) < expected and time.monotonic() < deadline:
        time.sleep(0.1)
    spent = time.perf_counter() - begin
    stored = count_spans(database) - 100
    return {"rate": stored / spent, "spans": stored, "seconds": spent}


def main() -> None:
    """``PYTHON -m benchmarks.ingest_phoenix BATCHES.json``."""
    batches = json.loads(Path(sys.argv[1]).read_text())
    bodies = [make_request(batch) for batch in batches]
    with tempfile.TemporaryDirectory(prefix="hgmem-phoenix-") as folder:
        port = free_port()
        environment = {
            **os.environ, "PHOENIX_WORKING_DIR": folder, "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }  # fmt: skip
        command = [sys.executable, "-m", "phoenix.server.main", "serve"]
        with Path(folder, "log").open("wb") as log:
            server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, server, Path(folder, "log"))
            print(json.dumps(measure(url, Path(folder, "phoenix.db"), bodies)))
        finally:
            server.terminate()
            server.wait(30)


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until it answers."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/healthz", timeout=2).read()
            return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError(log.read_text(errors="replace")[-2_000:])


if __name__ == "__main__":
    main()
