"""``record_experience`` over HTTP in batches of 100 calls, beside its floor and its peers, on both databases.

A granian server of one process and four threads (the product's default) on an empty database of its own. The
floor is bare ``bulk_create`` of the same call rows in this process: no HTTP, no validation, no redaction. The
peer is the same documents through REST framework serializers and ``bulk_create`` on the same server. Rounds
alternate. SQLite commits with ``synchronous=FULL``, PostgreSQL with its defaults: an answer means "on disk".

``--phoenix PYTHON`` names an interpreter that has ``arize-phoenix`` (a large package with pins of its own, so
it wants a virtual environment of its own); without one its row says so.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.ingest_workload import make_batch
from benchmarks.report import Report, parse_arguments
from benchmarks.serving import ROOT

DATABASES = {"sqlite": "SQLite", "postgres": "PostgreSQL 18"}
MAX_P99_MS = 100.0
MIN_PHOENIX = 20.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be varied."""
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round of each row")
    parser.add_argument("--only", choices=list(DATABASES), help="one database only")
    parser.add_argument("--phoenix", metavar="PYTHON", help="an interpreter that has arize-phoenix")


def main() -> int:
    """Run it."""
    arguments = parse_arguments("record_experience beside bare bulk_create and peers.", add_arguments)
    report = Report("ingest", arguments)
    chosen = [arguments.only] if arguments.only else list(DATABASES)
    found: dict[str, dict[str, Any]] = {}
    with report.progress("databases and peers", total=len(chosen) + 1) as advance:
        for database in chosen:
            found[database] = run_one(database, arguments)
            advance(1)
        phoenix = run_phoenix(arguments.phoenix)
        advance(1)
    for database, figures in found.items():
        show(report, database, figures)
    show_phoenix(report, phoenix, found)
    return report.finish()


def run_one(database: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """A database's figures, from a process of its own (Django is set up once a process)."""
    command = [sys.executable, "-m", "benchmarks.ingest_one", database]
    command += [str(arguments.rounds), str(arguments.seconds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-4_000:])
    line = next(line for line in done.stdout.splitlines() if line.startswith('{"floor"'))
    return dict(json.loads(line))


def run_phoenix(python: str | None) -> dict[str, Any] | None:
    """Phoenix's figures, or None where it is not installed."""
    if python is None:
        return None
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as folder:
        batches = Path(folder, "batches.json")
        batches.write_text(json.dumps([make_batch(number) for number in range(21)]))
        command = [python, "-m", "benchmarks.ingest_phoenix", str(batches)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-4_000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def show(report: Report, database: str, figures: dict[str, Any]) -> None:
    """One database's table and goals."""
    floor = figures["floor"]
    rows: list[list[Any]] = [["bare bulk_create of the same rows", floor, 1.0, "", "", ""]]
    for name, label in (
        ("peer", "REST framework serializers and ORM, 1 client"),
        ("one", "HGMem, 1 client"),
        ("four", "HGMem, 4 clients"),
        ("four_with_worker", "HGMem, 4 clients, a worker analysing meanwhile"),
    ):
        row = figures[name]
        rows.append([label, row["rate"], row["rate"] / floor, row["p50"], row["p99"], row["batches"]])
    title = f"{DATABASES[database]}: batches of 100 calls over HTTP"
    report.table(title, ["", "calls/s", "x floor", "p50 ms", "p99 ms", "batches"], rows)
    report.note(f"Analysis in one worker process: {figures['analysis']:,.0f} calls/s")
    report.figure(database, figures)
    rate = figures["one"]["rate"] / floor
    report.goal(
        f"{DATABASES[database]}: rate against bare bulk_create", measured=rate, limit=1.0, better="higher"
    )
    if database == "sqlite":
        p99 = figures["four"]["p99"]
        report.goal("SQLite: p99 of a batch with four clients", measured=p99, limit=MAX_P99_MS, unit="ms")


def show_phoenix(report: Report, phoenix: dict[str, Any] | None, found: dict[str, dict[str, Any]]) -> None:
    """The persist rate of a tracing product, where it is installed."""
    ours = max(figures["one"]["rate"] for figures in found.values())
    if phoenix is None:
        report.table("Arize Phoenix", ["", "spans/s"], [["not installed (--phoenix PYTHON)", ""]])
        return
    title = "Arize Phoenix on SQLite: the same calls as OTLP spans, until they are stored"
    report.table(
        title, ["", "spans/s", "HGMem is x"], [["phoenix serve", phoenix["rate"], ours / phoenix["rate"]]]
    )
    report.figure("phoenix", phoenix)
    report.goal(
        "rate against Phoenix", measured=ours / phoenix["rate"], limit=MIN_PHOENIX, unit="x", better="higher"
    )


if __name__ == "__main__":
    sys.exit(main())
