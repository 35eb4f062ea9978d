"""P2 effect: what rules make of a call is executed. Does it run, is it right, does the product know?

    python -m benchmarks.effect --data DIR [--json FILE]

Rules come only from the inducer, are approved as they are proposed and served by the real engine; each
change is executed in SQLite copies of the recorded databases, or in the tools of BFCL. Protocol, figures
and limits: docs/benchmarks/effect.md.
"""

import argparse
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.databases import Databases, find_databases
from benchmarks.effect_bfcl import measure_bfcl
from benchmarks.effect_poison import Poison
from benchmarks.effect_reference import reference
from benchmarks.effect_replay import Effects, Executor, halves, quartiles, replay
from benchmarks.effect_trial import measure_trial, remembered
from benchmarks.induced import Induced
from benchmarks.report import Report, parse_arguments
from benchmarks.streams import Run, Stream, StreamError, discover
from corrections.domain.effectiveness import MIN_OUTCOMES, brier

DEFAULT_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
GOAL_FIRED, GOAL_RIGHT = 393, 142
COLUMNS = ("", "fired", "ran", "right", "of them on good calls", "good calls broken", "asked instead")
STEP = 25


def main() -> int:
    """Measure every stream whose calls can be executed, and BFCL where it is installed."""
    arguments = parse_arguments(__doc__.split("\n", 1)[0], _add_arguments)
    folder = arguments.data or DEFAULT_DATA
    try:
        streams = discover(folder)
    except StreamError as error:
        sys.exit(str(error))
    report = Report("effect", arguments)
    databases = find_databases(folder)
    for stream in streams:
        if databases is None or not any(run.domain in databases.scripts for run in stream.runs):
            report.note(f"{stream.name}: nothing to execute its calls in; left out.")
            continue
        if not arguments.trial:
            _measure(stream, executor(databases), report)
        if not arguments.quick and not arguments.trial:
            _measure_poison(stream, executor(databases), report)
            _measure_change(stream, databases, report)
        if arguments.trial or not arguments.quick:
            before, after = executor(databases), executor(databases.renamed())
            measure_trial(stream, remembered(before), remembered(after), Poison(), report)
    if not arguments.quick and not arguments.trial:
        measure_bfcl(report)
    return report.finish()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="only fired, ran, right")
    parser.add_argument("--trial", action="store_true", help="only every repair as a canary")


def executor(databases: Databases) -> Executor:
    """Makes calls in the databases: the one text argument is the query."""

    def execute(run: Run, _tool: str, call_input: dict[str, Any], /) -> tuple[bool, bool]:
        query = next((value for value in call_input.values() if isinstance(value, str)), "")
        ran = databases.rows(run.domain, query) is not None
        return ran, ran and databases.is_right(run.domain, query, run.goal)

    return execute


def _measure(stream: Stream, execute: Executor, report: Report) -> None:
    induced = Induced()
    with report.progress(stream.name, total=len(stream.runs)) as advance:
        effects = replay(stream.runs, induced, execute, advance=advance)
    matched, ran, right = reference(stream.runs, execute)
    rows = [
        ["HGMem", *_counts(effects)],
        ["reference: the run's own later table name", matched, ran, right, 0, 0, 0],
    ]
    report.table(f"{stream.name}: {len(stream.runs)} runs", COLUMNS, rows)
    _report_effectiveness(stream, effects, induced, report)
    report.goal(f"{stream.name}: right", measured=effects.right, limit=GOAL_RIGHT, better="higher")
    report.goal(f"{stream.name}: fired", measured=len(effects.fired), limit=GOAL_FIRED)
    report.goal(
        f"{stream.name}: twice the reference", measured=effects.right, limit=2 * right, better="higher"
    )


def _counts(effects: Effects) -> list[int]:
    on_good = sum(not one.was_failing for one in effects.fired)
    return [len(effects.fired), effects.ran, effects.right, on_good, effects.broke, effects.asked]


def _report_effectiveness(stream: Stream, effects: Effects, induced: Induced, report: Report) -> None:
    fired = effects.fired
    rate = effects.ran / len(fired) if fired else 0.0
    found = quartiles(effects, induced)
    shares = [found.worst_quarter_ran, found.others_ran, found.worst_quarter_right, found.others_right]
    report.table(
        f"{stream.name}: what the product expects of its rules",
        ["Brier, ran", "Brier of the overall rate", f"rules with {MIN_OUTCOMES}+ outcomes",
         "ran: worst quarter", "ran: others", "right: worst quarter", "right: others", "retired"],
        [[_rounded(brier((one.expected, one.ran) for one in fired)),
          _rounded(brier((rate, one.ran) for one in fired)), found.rules, *map(_rounded, shares),
          len(induced.retired)]],
    )  # fmt: skip


def _measure_poison(stream: Stream, execute: Executor, report: Report) -> None:
    rows = []
    for name, poison in (("clean", None), ("every fifth repair poisoned", Poison())):
        induced = Induced(poison) if poison is not None else Induced()
        with report.progress(f"{stream.name}, {name}, twice", total=2 * len(stream.runs)) as advance:
            first = replay(stream.runs, induced, execute, advance=advance)
            again = replay(stream.runs, induced, execute, learns=False, advance=advance)
        counted = {
            key: [*first.by_rule().get(key, []), *again.by_rule().get(key, [])] for key in induced.effects
        }
        bad = poison.keys if poison is not None else set()
        watched = {key for key, some in counted.items() if len(some) >= MIN_OUTCOMES}
        harmful = {key for key in watched if fmean(one.ran for one in counted[key]) < 0.5}
        retired = induced.retired.keys()
        rows.append(
            [name, len(bad), len(bad & counted.keys()), len(bad & watched), len(bad & watched & harmful),
             len(bad & retired), len(retired - bad), len(retired - bad - harmful)]
        )  # fmt: skip
    report.table(
        f"{stream.name}: poisoned rules, the stream replayed twice",
        ["", "poisoned", "fired", f"{MIN_OUTCOMES}+ times", "and mostly failed", "poisoned retired",
         "others retired", "others retired though mostly good"],
        rows,
    )  # fmt: skip


def _measure_change(stream: Stream, databases: Databases, report: Report) -> None:
    """Half-way every table gets another name; nobody tells the product."""
    before, after = halves(stream)
    curves: dict[str, list[float]] = {}
    last: dict[str, Induced] = {}
    for name, later in (("unchanged", databases), ("tables renamed", databases.renamed())):
        induced = last[name] = Induced(retires=False)
        replay(before, induced, executor(databases))
        second = replay(after, induced, executor(later), learns=False)
        trust = [one.expected for one in second.fired]
        curves[name] = [fmean(trust[at : at + STEP]) for at in range(0, len(trust) - STEP + 1, STEP)]
    steps = min(map(len, curves.values()))
    columns = ["mean trust in the rules that fire", *(f"to {(at + 1) * STEP}" for at in range(steps))]
    rows = [[name, *map(_rounded, curve[:steps])] for name, curve in curves.items()]
    report.table(f"{stream.name}: calls changed after the middle", columns, rows)


def _rounded(value: float | None) -> float | str:
    return "no data" if value is None else round(value, 3)


if __name__ == "__main__":
    sys.exit(main())
