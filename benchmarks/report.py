"""The shell every benchmark shares: arguments, progress, tables, goals, exit code.

    def main() -> int:
        arguments = parse_arguments("What is measured, in a sentence.")
        report = Report("match", arguments)
        with report.progress("contexts", total=1000) as advance:
            ...
            advance()
        report.table("10,000 rules", ["matcher", "p50 us", "p99 us"], rows)
        report.goal("p99 at 10,000 rules", measured=31.2, limit=50, unit="us")
        return report.finish()

    if __name__ == "__main__":
        sys.exit(main())

``--json FILE`` writes every table, figure and goal; ``--no-goal`` only measures; ``--data DIR`` is
where recorded runs are. The exit code is 1 when a goal is missed.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

AddArguments = Callable[[argparse.ArgumentParser], None]


def parse_arguments(description: str, add: AddArguments | None = None) -> argparse.Namespace:
    """The arguments of every benchmark, plus those that ``add`` puts on the parser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument("--no-goal", action="store_true", help="only measure; a missed goal is no failure")
    default = os.environ.get("HGMEM_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path(default) if default else None,
        help="recorded runs (default: the HGMEM_DATA environment variable)",
    )
    if add is not None:
        add(parser)
    return parser.parse_args()


class Report:
    """Collects what a benchmark measures, prints it, and decides its exit code."""

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._console = Console()
        self._started = time.monotonic()
        self._goals: list[dict[str, Any]] = []
        self._document: dict[str, Any] = {
            "benchmark": name,
            "python": platform.python_version(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "tables": [],
            "figures": {},
            "goals": self._goals,
        }

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """A progress bar on standard error; call what it yields with the number of steps done."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda steps: bar.advance(task, steps)

    def note(self, text: str) -> None:
        """A line of text between the tables."""
        self._console.print(text)

    def figure(self, name: str, value: Any) -> None:
        """A single value for the JSON file."""
        self._document["figures"][name] = value

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table and keep it for the JSON file. Numbers are shown with a sensible precision."""
        shown = Table(title=title, title_justify="left")
        for at, column in enumerate(columns):
            shown.add_column(column, justify="left" if at == 0 else "right")
        for row in rows:
            shown.add_row(*(_shown(cell) for cell in row))
        self._console.print(shown)
        self._document["tables"].append(
            {"title": title, "columns": list(columns), "rows": [list(row) for row in rows]}
        )

    def goal(
        self,
        name: str,
        *,
        measured: float | None,
        limit: float,
        unit: str = "",
        better: Literal["lower", "higher"] = "lower",
    ) -> None:
        """State a goal and what was measured; None means it could not be measured and counts as missed."""
        met = measured is not None and (measured <= limit if better == "lower" else measured >= limit)
        self._goals.append(
            {"name": name, "measured": measured, "limit": limit, "unit": unit, "better": better, "met": met}
        )

    def finish(self) -> int:
        """Print the goals, write the JSON file, and return the exit code."""
        for goal in self._goals:
            sign = "<=" if goal["better"] == "lower" else ">="
            verdict = "[green]met[/]" if goal["met"] else "[red]missed[/]"
            measured = "not measured" if goal["measured"] is None else _shown(goal["measured"])
            self._console.print(
                f"{verdict}  {goal['name']}: {measured} {sign} {goal['limit']} {goal['unit']}"
            )
        self._document["seconds"] = round(time.monotonic() - self._started, 1)
        if self._arguments.json is not None:
            self._arguments.json.write_text(json.dumps(self._document, indent=2, ensure_ascii=False) + "\n")
        missed = any(not goal["met"] for goal in self._goals)
        return 1 if missed and not self._arguments.no_goal else 0


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share (0..1) of the values lies, by the nearest-rank method."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * len(ordered) * 1_000_000) // 1_000_000) - 1))]


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def _shown(cell: Any) -> str:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return str(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}" if abs(cell) < 100 else f"{cell:.1f}"


if __name__ == "__main__":
    sys.exit("this module is imported by the benchmarks beside it")
