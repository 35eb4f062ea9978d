"""P2 with the controller running: every repair begins as a canary, each fifth one poisoned."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from benchmarks.effect_canary import OVER, TRYING, Controller, OnTrial, replay_on_trial
from benchmarks.effect_poison import Poison
from benchmarks.effect_replay import Effects, Executor, quartiles, replay
from benchmarks.induced import Induced
from benchmarks.report import Report
from benchmarks.streams import Run, Stream
from corrections.domain.effectiveness import MIN_OUTCOMES, brier

DAYS = 14
RENAMED_AFTER = 7
SHOWN = (1, 2, 3, 5, 7, 10, 14)


def measure_trial(stream: Stream, execute: Executor, after: Executor, poison: Poison, report: Report) -> None:
    """A day is the whole stream once, as new tasks. ``after`` executes where every table was renamed."""
    induced = Induced(poison, retires=False)
    with report.progress(f"{stream.name}, learning", total=len(stream.runs)) as advance:
        replay(stream.runs, induced, execute, advance=advance)
    repairs = {
        key: rule.to_document()
        for key, rule in induced.served.items()
        if rule.action.action_type == "PARAMETER_TRANSFORM"
    }
    priors = {key: induced.effect(key).prior for key in repairs}
    played = _Played(stream, Controller(repairs, priors), poison.keys & repairs.keys())
    renamed = _Played(stream, Controller(repairs, priors), poison.keys & repairs.keys())
    played.play([execute] * DAYS, report)
    renamed.play([execute] * RENAMED_AFTER + [after] * (DAYS - RENAMED_AFTER), report)
    report.table(f"{stream.name}: {len(repairs)} repairs on trial at once", COLUMNS, played.rows)
    _report_end(stream, played, report)
    _report_change(stream, played, renamed, report)


COLUMNS = (
    "day", "tasks a rule met (median)", "fired", "ran", "right", "promoted", "of them mostly failing",
    "rolled back", "withdrawn", "of them mostly good", "held for a person", "still on trial",
)  # fmt: skip


class _Played:
    """One controller through all its days."""

    def __init__(self, stream: Stream, controller: Controller, poisoned: set[str]) -> None:
        self.stream, self.controller, self.poisoned = stream, controller, poisoned
        self.days: list[Effects] = []
        self.rows: list[list[Any]] = []

    def play(self, executors: Sequence[Executor], report: Report) -> None:
        total = len(executors) * len(self.stream.runs)
        with report.progress(f"{self.stream.name}, {len(executors)} days", total=total) as advance:
            for day, execute in enumerate(executors, start=1):
                self.days.append(replay_on_trial(self.stream.runs, self.controller, execute, advance=advance))
                if day in SHOWN:
                    self.rows.append(self._row(day))

    def _row(self, day: int) -> list[Any]:
        effects = self.days[-1]
        met = [one for one in self.controller.rules.values() if one.tasks]
        promoted = [one for one in met if one.promoted_after is not None]
        withdrawn = [one for one in met if one.state == "withdrawn"]
        return [
            day, median(one.tasks for one in met), len(effects.fired), effects.ran, effects.right,
            len(promoted), sum(one.is_bad for one in promoted),
            sum(one.state == "rolled_back" for one in met),
            len(withdrawn), sum(one.is_good for one in withdrawn), sum(one.state == "held" for one in met),
            sum(one.state == "running" for one in met),
        ]  # fmt: skip

    def trust(self, first: int) -> list[float]:
        """The mean expectation of the rules that fire, day by day from one on."""
        return [fmean(one.expected for one in day.fired) for day in self.days[first:]]


def _report_end(stream: Stream, played: _Played, report: Report) -> None:
    rows = []
    for name, is_poisoned in (("poisoned", True), ("others", False)):
        some = [
            one for key, one in played.controller.rules.items() if (key in played.poisoned) is is_poisoned
        ]
        bad, good = [one for one in some if one.is_bad], [one for one in some if one.is_good]
        rows.append([name, len(some), *_fates(bad), *_fates(good)])
    fates = ("", "withdrawn or rolled back", "promoted")
    columns = [
        "",
        "repairs",
        *(f"{what}{fate and ', '}{fate}" for what in ("mostly failing", "mostly good") for fate in fates),
    ]
    report.table(
        f"{stream.name}: after {DAYS} days (rules that changed {MIN_OUTCOMES}+ calls)", columns, rows
    )
    all_days = Effects([one for day in played.days for one in day.fired])
    found = quartiles(all_days, played.controller)
    rate = all_days.ran / len(all_days.fired)
    after = [one.promoted_after for one in played.controller.rules.values() if one.promoted_after]
    report.table(
        f"{stream.name}: what the product expects of rules on trial",
        ["Brier, ran", "Brier of the overall rate", "rules", "ran: worst quarter", "ran: others",
         "right: worst quarter", "right: others", "tasks met when promoted (median)"],
        [[brier((one.expected, one.ran) for one in all_days.fired),
          brier((rate, one.ran) for one in all_days.fired), found.rules, found.worst_quarter_ran,
          found.others_ran, found.worst_quarter_right, found.others_right,
          median(after) if after else "none"]],
    )  # fmt: skip


def _fates(some: Sequence[OnTrial]) -> list[int]:
    return [
        len(some),
        sum(one.state in OVER for one in some),
        sum(one.promoted_after is not None and one.state not in OVER for one in some),
    ]


def _report_change(stream: Stream, played: _Played, renamed: _Played, report: Report) -> None:
    rows: list[list[Any]] = []
    for name, one in (("unchanged", played), ("tables renamed", renamed)):
        rules = one.controller.rules.values()
        over = sum(rule.state in OVER for rule in rules)
        trying = sum(rule.state in TRYING for rule in rules)
        rows.append([name, *(round(trust, 3) for trust in one.trust(RENAMED_AFTER)), over, trying])
    days = [f"day {day}" for day in range(RENAMED_AFTER + 1, DAYS + 1)]
    report.table(
        f"{stream.name}: mean trust in the rules that fire, tables renamed after day {RENAMED_AFTER}",
        ["", *days, "withdrawn or rolled back", "on trial or held"], rows,
    )  # fmt: skip


def remembered(execute: Executor) -> Executor:
    """The same call in the same database is executed once."""
    known: dict[tuple[str, str, str], tuple[bool, bool]] = {}

    def lookup(run: Run, tool: str, call_input: dict[str, Any], /) -> tuple[bool, bool]:
        key = (run.domain, run.goal, repr(call_input))
        if key not in known:
            known[key] = execute(run, tool, call_input)
        return known[key]

    return lookup
