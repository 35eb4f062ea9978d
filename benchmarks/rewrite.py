"""P4, rewriting a failed path: does what `align` proposes run, and does it reach the gold state?

    python -m benchmarks.rewrite            # prints tables, exits with 1 when a goal is missed
    python -m benchmarks.rewrite --misses   # also lists what was proposed in vain
    python -m benchmarks.rewrite --orders 3 # the same with the tasks in three other orders

The failures are those of BFCL tasks walked with one gold step left out. Nothing is executed while proposing;
every proposal is executed once, in the tools themselves. Protocol and limits: docs/benchmarks/rewrite.md.
"""

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.bfcl import PlannedCall, Run, Task, Variant, load_tasks, play, variants
from benchmarks.bfcl.tools import Environment
from benchmarks.report import Report, parse_arguments, quantile
from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align import FailurePoint, Proposed, Repair, RewriteMemory, proposals, propose
from memory.domain.rewriting.proposal import apply

GOAL_RIGHT = 190
RECURRENCES = 230
BEST_OF = 3
LITERALS = re.compile(r"'[^']*'|\d+")
SETTINGS = ("leave-task-out", "as in life")
COLUMNS = ("", "recurrences", "run", "right", f"right in best {BEST_OF}", "no proposal", "ms p50", "ms p95")


class Outcome(NamedTuple):
    """How a sequence of calls ended: `runs` without an error, `right` if it also ends in the gold state."""

    runs: bool
    right: bool


@dataclass(frozen=True)
class Failing:
    """A variant that fails: the path it walked and the call that failed first."""

    run: Run
    path: PathDoc
    failure: FailurePoint
    pattern: tuple[str, str]

    @property
    def task(self) -> Task:
        return self.run.variant.task

    @property
    def forgotten(self) -> PlannedCall:
        step = self.task.gold[self.run.variant.left_out or 0]
        return PlannedCall(step.tool, step.args)


@dataclass
class Tally:
    """What became of the recurrences (and, apart, of the failures seen for the first time)."""

    count: int = 0
    runs: int = 0
    right: int = 0
    right_in_best: int = 0
    none: int = 0
    grown: int = 0
    seconds: list[float] = field(default_factory=list)
    missed: list[list[str]] = field(default_factory=list)


class Stream:
    """Failing variants in task order, and what memory holds when each of them comes."""

    def __init__(self, tasks: Sequence[Task], *, knows_task: bool) -> None:
        self._tasks, self._knows_task = tasks, knows_task
        self._gold = {task.id: path_of(play(Variant(task)), "success") for task in tasks}

    def walk(self) -> Iterator[tuple[Failing, RewriteMemory, PlannedCall | None]]:
        """Every failing variant with the memory of that moment and the fix remembered first for its pattern
        by another task; None marks a failure that is no recurrence."""
        repairs: list[tuple[str, Repair]] = []
        successes: list[PathDoc] = []
        fixes: dict[tuple[str, str], list[tuple[str, PlannedCall]]] = {}
        for task in self._tasks:
            met = False
            for failing in filter(None, map(failing_variant, variants([task]))):
                of_task = [self._gold[task.id]] if met and self._knows_task else []
                learnt = tuple(repair for owner, repair in repairs if self._knows_task or owner != task.id)
                remembered = [fix for owner, fix in fixes.get(failing.pattern, []) if owner != task.id]
                memory = RewriteMemory(successes=(*successes, *of_task), repairs=learnt)
                yield failing, memory, next(iter(remembered), None)
                met = True
                repairs.append(
                    (task.id, Repair(failed=failing.path, failure=failing.failure, fixed=self._gold[task.id]))
                )
                fixes.setdefault(failing.pattern, []).append((task.id, failing.forgotten))
            successes.append(self._gold[task.id])


def path_of(run: Run, result: str) -> PathDoc:
    """The run as a path: one node a call. The product's own builder would fold and cut it."""
    return PathDoc(
        goal=run.variant.task.goal,
        nodes=tuple(
            NodeDoc(name=f"{place}-{call.tool}", tool=call.tool, params=call.args, observation=call.output)
            for place, call in enumerate(run.calls)
        ),
        tags=("bfcl",),
        result="success" if result == "success" else "failure",
        reward=1.0 if result == "success" else 0.0,
    )


def failing_variant(variant: Variant) -> Failing | None:
    """The played variant, or None when no call of it fails."""
    run = play(variant)
    for place, call in enumerate(run.calls):
        if call.error is not None:
            failure = FailurePoint(node=f"{place}-{call.tool}", message=call.error)
            pattern = call.tool, LITERALS.sub("<>", call.error)
            return Failing(run, path_of(run, "failure"), failure, pattern)
    return None


def execute(task: Task, calls: Sequence[PlannedCall]) -> Outcome:
    """Make the calls in a fresh environment of the task."""
    environment = Environment(task.classes, task.initial)
    errors = [environment.call(call.tool, call.args)[1] for call in calls]
    runs = not any(error is not None for error in errors)
    return Outcome(runs, runs and environment.state() == play(Variant(task)).final_state)


def measure(tasks: Sequence[Task], *, knows_task: bool, advance: Callable[[int], None]) -> dict[str, Tally]:
    """Walk the stream once. Keys: recurrence, first time, word for word."""
    tallies = {name: Tally() for name in ("recurrence", "first time", "word for word")}
    for failing, memory, remembered in Stream(tasks, knows_task=knows_task).walk():
        if remembered is not None:
            _count(tallies["word for word"], [execute(failing.task, _inserted(failing, remembered))])
        _judge(failing, memory, tallies["first time" if remembered is None else "recurrence"])
        advance(1)
    return tallies


def _judge(failing: Failing, memory: RewriteMemory, tally: Tally) -> None:
    started = time.perf_counter()
    ranked = proposals(failing.path, failing.failure, memory)
    tally.seconds.append(time.perf_counter() - started)
    outcomes = [execute(failing.task, _calls(failing, proposed)) for proposed in ranked[:BEST_OF]]
    _count(tally, outcomes)
    if ranked:
        known = (*memory.versions, apply(failing.path, ranked[0].rewrite))
        again = RewriteMemory(successes=memory.successes, repairs=memory.repairs, versions=known)
        tally.grown += propose(failing.path, failing.failure, again) is not None
    if not outcomes or not outcomes[0].right:
        tally.missed.append(_miss(failing, ranked, outcomes))


def _count(tally: Tally, outcomes: Sequence[Outcome]) -> None:
    tally.count += 1
    tally.none += not outcomes
    tally.runs += bool(outcomes) and outcomes[0].runs
    tally.right += bool(outcomes) and outcomes[0].right
    tally.right_in_best += any(outcome.right for outcome in outcomes)


def _calls(failing: Failing, proposed: Proposed) -> list[PlannedCall]:
    return [PlannedCall(node.tool, node.params) for node in apply(failing.path, proposed.rewrite).nodes]


def _inserted(failing: Failing, fix: PlannedCall) -> list[PlannedCall]:
    calls = [PlannedCall(call.tool, call.args) for call in failing.run.calls]
    place = next(place for place, call in enumerate(failing.run.calls) if call.error is not None)
    return [*calls[:place], fix, *calls[place:]]


def _miss(failing: Failing, ranked: Sequence[Proposed], outcomes: Sequence[Outcome]) -> list[str]:
    added = [
        f"{node.tool}({', '.join(f'{name}={value!r}' for name, value in node.params.items())})"
        for node in (ranked[0].rewrite.new_nodes if ranked else ())
        if isinstance(node, NodeDoc) and node.name not in {known.name for known in failing.path.nodes}
    ]
    wanted = failing.forgotten
    ended = "nothing" if not outcomes else "runs" if outcomes[0].runs else "fails"
    return [failing.run.variant.id, f"{wanted.tool} {wanted.args}"[:120], "; ".join(added)[:160], ended]


def _row(name: str, tally: Tally) -> list[Any]:
    times = [
        round(quantile(tally.seconds, share) * 1_000, 1) if tally.seconds else "-" for share in (0.5, 0.95)
    ]
    return [name, tally.count, tally.runs, tally.right, tally.right_in_best, tally.none, *times]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--misses", action="store_true", help="list what was proposed in vain")
    parser.add_argument("--orders", type=int, default=0, metavar="N", help="also N other orders of the tasks")


def main() -> int:
    """Measure both settings in the order of the file, then other orders if asked."""
    arguments = parse_arguments(__doc__.split("\n", 1)[0], _add_arguments)
    report = Report("rewrite", arguments)
    tasks = load_tasks()
    judged: dict[str, Tally] = {}
    for setting in SETTINGS:
        with report.progress(setting, total=286) as advance:
            tallies = measure(tasks, knows_task=setting == "as in life", advance=advance)
        judged[setting] = tallies["recurrence"]
        rows = [_row(name, tally) for name, tally in tallies.items()]
        report.table(f"{setting}: 286 failing variants of {len(tasks)} tasks", COLUMNS, rows)
        if arguments.misses:
            for name in ("recurrence", "first time"):
                columns = ["variant", "forgotten", "proposed", "it"]
                report.table(f"{setting}: {name}, not right", columns, tallies[name].missed)
        report.figure(
            f"{setting}: forgotten steps",
            dict(Counter(miss[1].split()[0] for miss in tallies["recurrence"].missed)),
        )
    _other_orders(tasks, arguments.orders, report)
    strict = judged["leave-task-out"]
    report.goal(
        f"right of {RECURRENCES} recurrences, no path of the task known",
        measured=strict.right,
        limit=GOAL_RIGHT,
        better="higher",
    )
    grown = sum(tally.grown for tally in judged.values())
    report.goal("versions proposed although nothing new was learnt", measured=grown, limit=0)
    return report.finish()


def _other_orders(tasks: Sequence[Task], orders: int, report: Report) -> None:
    rows = []
    for seed in range(1, orders + 1):
        shuffled = random.Random(seed).sample(tasks, len(tasks))
        with report.progress(f"order {seed}", total=286) as advance:
            tallies = measure(shuffled, knows_task=False, advance=advance)
        rows += [_row(f"order {seed}: {name}", tally) for name, tally in tallies.items()]
    if rows:
        report.table("other orders of the tasks, leave-task-out", COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(main())
