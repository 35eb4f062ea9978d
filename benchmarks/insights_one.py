"""One database's part of ``benchmarks/insights.py``, in a process of its own; prints figures as JSON."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.insights_filling import fill_cells
from benchmarks.insights_workload import CALLS, make_tasks
from benchmarks.locate_scale_one import spread, start_postgres
from benchmarks.serving import prepare_site

BATCH = 50
COPIED = ("Task", "ToolCall", "Failure", "TaskInsight")
SHIFTED = ("id", "task_id", "call_id")
PAGES = {
    "page: speed, 30 days": "/w/bench/insights/",
    "page: speed, 90 days": "/w/bench/insights/?days=90",
    "page: one tool, 90 days, its fastest ways": "/w/bench/insights/?days=90&tool=tool_00&after=tool_01",
    "page: retries, 90 days": "/w/bench/insights/retries/?days=90",
    "page: repeats, 30 days": "/w/bench/insights/repeats/",
    "page: repeats, 90 days": "/w/bench/insights/repeats/?days=90",
    "API: speed": "/api/v1/insights/speed",
    "API: speed of a tool": "/api/v1/insights/speed?tool=tool_00&days=90",
    "API: fastest": "/api/v1/insights/fastest?tool=tool_00&after=tool_01&tags=flight&domain=site_1&days=90",
    "API: retries": "/api/v1/insights/retries?days=90",
    "API: repeats": "/api/v1/insights/repeats?days=90",
    "API: repeats of a tool": "/api/v1/insights/repeats?days=90&tool=tool_00",
}


def measure(calls: int, distinct: int, requests: int) -> dict[str, Any]:
    """Record, count, copy, ask. Times in seconds (the pass) and milliseconds (requests)."""
    from memory.actions.accounts import create_workspace
    from memory.permissions import SYSTEM

    workspace = create_workspace(slug="bench", name="Bench", owner=_owner(), by=SYSTEM)
    recorded = min(distinct, calls // CALLS)
    analysed_s, analysed_cpu_s = _record(workspace.pk, recorded)
    began = time.process_time()
    counted_s, batch_ms = _count(workspace.pk)
    counted_cpu_s = time.process_time() - began
    copies = _copy(calls // CALLS, recorded)
    fill_cells(workspace.pk, (recorded + copies) / recorded)
    figures: dict[str, Any] = {
        "calls": (recorded + copies) * CALLS, "recorded": recorded, "copied": copies,
        "analysed_s": analysed_s, "analysed_cpu_s": analysed_cpu_s, "counted_s": counted_s,
        "counted_cpu_s": counted_cpu_s, "batch": spread(batch_ms),
        "counters": _by_counter(workspace.pk), "cells": _cells(),
    }  # fmt: skip
    figures["requests"] = {name: _ask(name, url, requests) for name, url in PAGES.items()}
    return figures


def _owner() -> Any:
    from memory.models import User

    return User.objects.create_user(username="owner", password=os.urandom(12).hex())


def _record(workspace_id: int, count: int) -> tuple[float, float]:
    """Record the tasks and let the analysis look at them; its seconds, and those of the processor."""
    from django.utils import timezone

    from memory.actions.record import record_experience
    from memory.background.analyse import analyse_backlog
    from memory.permissions import SYSTEM

    spent, cpu, tasks = 0.0, 0.0, make_tasks(count, timezone.now())
    while documents := list(islice(tasks, BATCH)):
        record_experience(workspace_id=workspace_id, documents=documents, by=SYSTEM)
        began, cpu_began = time.perf_counter(), time.process_time()
        while analyse_backlog(60.0):
            pass
        spent, cpu = spent + time.perf_counter() - began, cpu + time.process_time() - cpu_began
        print(f"filled {len(documents)}", flush=True)
    return spent, cpu


def _copy(wanted: int, recorded: int) -> int:
    """Copy the rows of the recorded tasks inside the database until there are enough; how many tasks."""
    from django.apps import apps
    from django.db import connection, transaction
    from django.db.models import Max

    models = [apps.get_model("memory", name) for name in COPIED]
    stride = max(int(model.objects.aggregate(last=Max("pk"))["last"] or 0) for model in models) + 1
    turns = -(-wanted // recorded) - 1
    for turn in range(1, turns + 1):
        with transaction.atomic(), connection.cursor() as cursor:
            for model in models:
                names = [str(field.column) for field in model._meta.concrete_fields]
                values = ", ".join(_copied(name, turn * stride) for name in names)
                key, table = model._meta.pk.column, model._meta.db_table
                what = f"SELECT {values} FROM {table} WHERE {key} < {stride}"
                cursor.execute(f"INSERT INTO {table} ({', '.join(names)}) {what}")
        print(f"filled {recorded}", flush=True)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return turns * recorded


def _copied(name: str, shift: int) -> str:
    from django.db import connection

    if name in SHIFTED:
        return f"{name} + {shift}"
    if name == "uuid":
        is_sqlite = connection.vendor == "sqlite"
        return "lower(hex(randomblob(16)))" if is_sqlite else "gen_random_uuid()"
    return f"{name} || ' {shift}'" if name in ("external_id", "root_task") else name


def _count(workspace_id: int) -> tuple[float, list[float]]:
    """The pass over everything: its seconds, and the milliseconds of each batch."""
    from memory.background.insights.counting import count_batch

    times: list[float] = []
    done = 1
    while done:
        began = time.perf_counter()
        done = count_batch(workspace_id)
        times.append((time.perf_counter() - began) * 1000)
        print(f"counted {done}", flush=True)
    return sum(times) / 1000, times[:-1]


def _by_counter(workspace_id: int) -> dict[str, float]:
    """Microseconds a task that each counter takes to say what a task adds (without writing it)."""
    from memory.background.insights.counters import COUNTERS
    from memory.background.insights.loading import load_runs
    from memory.models import Task

    runs = load_runs(list(Task.objects.filter(workspace=workspace_id).order_by("id")[:200]))
    found = {}
    for counter in COUNTERS:
        began = time.perf_counter()
        for run in runs:
            counter.contribute(run)
        found[counter.NAME] = (time.perf_counter() - began) / len(runs) * 1e6
    return found


def _cells() -> dict[str, int]:
    from memory.models import RepeatCell, RetryCell, SpeedCell, WayCell

    return {model.__name__: model.objects.count() for model in (SpeedCell, WayCell, RetryCell, RepeatCell)}


def _ask(name: str, url: str, requests: int) -> dict[str, float]:
    """Whole requests in this process: middleware, view, template or serializer; without the network."""
    get = _getter(name)
    get(url)
    times, cpu = [], []
    for _ in range(requests):
        began, cpu_began = time.perf_counter(), time.process_time()
        get(url)
        times.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - cpu_began) * 1000)
    return spread(times) | {"cpu_p95": spread(cpu)["p95"]}


def _getter(name: str) -> Callable[[str], None]:
    from django.test import Client
    from rest_framework.test import APIClient

    from memory.actions.accounts import create_key
    from memory.domain.access import Scope
    from memory.models import User, Workspace
    from memory.permissions import SYSTEM

    client: Client
    if name.startswith("API"):
        workspace = Workspace.objects.get(slug="bench")
        secret = create_key(workspace=workspace, name=name, scopes=[Scope.ADMIN], by=SYSTEM)[1]
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    else:
        client = Client()
        client.force_login(User.objects.get(username="owner"))

    def get(url: str) -> None:
        answer = client.get(url, HTTP_HOST="localhost")
        if answer.status_code != 200:
            raise RuntimeError(f"{url} answered {answer.status_code}")

    return get


def main() -> None:
    """``DATABASE CALLS DISTINCT REQUESTS``."""
    database, calls, distinct, requests = sys.argv[1:5]
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as folder:
        environment = {"DATABASE_URL": start_postgres()} if database == "postgres" else {}
        prepare_site(Path(folder), **environment)
        print(json.dumps(measure(int(calls), int(distinct), int(requests))))


if __name__ == "__main__":
    main()
