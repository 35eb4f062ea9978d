"""What insights cost with 1,000,000 calls: the pass that counts them, the pages and endpoints that show them.

Each database is measured in a process of its own, with a database of its own. ``--distinct`` tasks are
recorded, analysed and counted by the product: their pass is timed. The rest are copies of their rows inside
the database, and the tables of the insights are filled in bulk with a cell for every day, tool and shape (or
error pattern), as so many calls would. Requests are whole ones in process: no network.
"""

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks.report import Report, parse_arguments
from benchmarks.serving import ROOT

MAX_MS = 300.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be varied."""
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--distinct", type=int, default=1_000, help="tasks of ten calls that are no copies")
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--only", choices=["sqlite", "postgres"], help="one database only")


def main() -> int:
    """Run it."""
    arguments = parse_arguments("The insight pass and its pages with 1,000,000 calls.", add_arguments)
    report = Report("insights", arguments)
    for database in ("sqlite", "postgres"):
        if arguments.only in (None, database):
            show(report, database, run_one(database, arguments, report))
    return report.finish()


def run_one(database: str, arguments: argparse.Namespace, report: Report) -> dict[str, Any]:
    """The figures of one process; the last line it prints."""
    command = [sys.executable, "-m", "benchmarks.insights_one", database]
    command += [str(number) for number in (arguments.calls, arguments.distinct, arguments.requests)]
    line = ""
    with (
        report.progress(database, total=arguments.calls // 10 + arguments.distinct) as advance,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child,
    ):
        for line in child.stdout or ():
            if line.startswith(("filled ", "counted ")):
                advance(int(line.split()[1]))
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with code {child.returncode}")
    return dict(json.loads(line))


def show(report: Report, database: str, figures: dict[str, Any]) -> None:
    """One process's tables and goals."""
    where = {"sqlite": "SQLite", "postgres": "PostgreSQL 18"}[database]
    title = f"{where}, {figures['calls']:,} calls ({figures['recorded'] * 10:,} of them recorded)"
    recorded = figures["recorded"]
    rate, analysis = recorded / figures["counted_s"], recorded / figures["analysed_s"]
    rows = [
        ["tasks counted a second", f"{rate:,.0f}"],
        ["tasks analysed a second", f"{analysis:,.0f}"],
        ["processor time to count a task, ms", f"{1000 * figures['counted_cpu_s'] / recorded:.1f}"],
        ["processor time to analyse a task, ms", f"{1000 * figures['analysed_cpu_s'] / recorded:.1f}"],
        ["counting, of counting and analysing a task", f"{100 * analysis / (rate + analysis):.0f} %"],
        ["a batch, p50 / p95 ms", f"{figures['batch']['p50']:.0f} / {figures['batch']['p95']:.0f}"],
        *[[f"counter {name}, us a task", f"{us:,.0f}"] for name, us in figures["counters"].items()],
        *[[f"rows of {name}", f"{count:,}"] for name, count in figures["cells"].items()],
    ]
    report.table(f"The pass: {title}", ["", ""], rows)
    rows = [
        [name, found["p50"], found["p95"], found["cpu_p95"], found["n"]]
        for name, found in figures["requests"].items()
    ]
    report.table(f"Requests: {title}", ["", "p50 ms", "p95 ms", "p95 processor ms", "n"], rows)
    report.figure(database, figures)
    worst = max(found["p95"] for found in figures["requests"].values())
    report.goal(f"{title}: slowest page or endpoint, p95", measured=worst, limit=MAX_MS, unit="ms")


if __name__ == "__main__":
    sys.exit(main())
