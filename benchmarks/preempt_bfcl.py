"""Mode ``--bfcl`` of the pre-emption benchmark: steps that were left out, in tools that really run.

Tasks come one after another. Before anything of a task is learnt, all its failing variants (one gold step
left out) and its gold path are asked about, call by call; so no rule that speaks up is of the same task.
Then the inducer is told the variants' calls, the gold path's, and the alignment of each failed path with the
gold one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from benchmarks.bfcl import Call, PlannedCall, Run, Task, Variant, play, variants
from benchmarks.product import HISTORY
from benchmarks.rewrite import LITERALS, Failing, execute, failing_variant, path_of
from corrections.domain.inducing import Inducer, ObservedCall, Proposal
from hgmem.rules import Decision, Rule, Ruleset
from memory.domain.rewriting.align_edits import Repair

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ENV = {"domain": "bfcl"}
HELPS = ("INSERT_STEP", "PROMPT_ENHANCEMENT", "any rule")


@dataclass
class Told:
    """What one kind of rule said: right and wrong flags, recurrences and those that were caught."""

    right: int = 0
    wrong: int = 0
    good: int = 0
    recurrences: int = 0
    caught: int = 0


@dataclass
class Figures:
    """What was measured. ``variants`` are those whose first error recurs; before it a step was inserted in
    ``inserted`` of them, ``runs`` then ran without any error, ``right`` also reached the gold state."""

    told: dict[str, Told] = field(default_factory=lambda: {name: Told() for name in HELPS})
    variants: int = 0
    inserted: int = 0
    runs: int = 0
    right: int = 0
    learning: float = 0.0
    longest: float = 0.0


class Steps:
    """The tasks walked once with an inducer and the engine that serves what it proposes."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._inducer = Inducer()
        self._ruleset = Ruleset.compile([], version="0")
        self._met: set[tuple[str, str]] = set()
        self.proposals: list[Proposal] = []
        self.figures = Figures()

    def run(self, advance: Callable[[int], None]) -> Figures:
        """Ask about a task, then learn it."""
        for task in self._tasks:
            gold = play(Variant(task))
            failed = [found for found in map(failing_variant, variants([task])) if found is not None]
            self._ask(gold, judge=False)
            for one in failed:
                self._ask(one.run, judge=True)
            started = time.perf_counter()
            for one in failed:
                self._learn(one.run, one.run.variant.id)
                self._align(one, gold)
            self._learn(gold, gold.variant.id)
            self.proposals = self._inducer.proposals()
            rules = [Rule.from_document(one.document() | {"uuid": one.key}) for one in self.proposals]
            self._ruleset = Ruleset.compile(rules, version=task.id, base=self._ruleset)
            took = time.perf_counter() - started
            self.figures.learning += took
            self.figures.longest = max(self.figures.longest, took)
            self._met |= {_pattern(call) for one in failed for call in one.run.errors}
            advance(1)
        return self.figures

    def _ask(self, run: Run, *, judge: bool) -> None:
        decisions = [self._decide(run, seq) for seq in range(len(run.calls))]
        for call, decision in zip(run.calls, decisions, strict=True):
            self._count(call, decision)
        if judge:
            self._execute(run, decisions)

    def _decide(self, run: Run, seq: int) -> Decision:
        call = run.calls[seq]
        history = [
            {"tool": past.tool, "input": past.args, "status": "error" if past.error else "ok"}
            for past in run.calls[max(0, seq - HISTORY) : seq]
        ]
        context = {"tool": call.tool, "input": call.args, "history": history, "env": ENV}
        return self._ruleset.decide(context, now=NOW)

    def _count(self, call: Call, decision: Decision) -> None:
        flags = {
            "INSERT_STEP": bool(decision.insert_steps),
            "PROMPT_ENHANCEMENT": bool(decision.hints),
            "any rule": bool(decision.matched),
        }
        recurs = call.error is not None and _pattern(call) in self._met
        for name, flagged in flags.items():
            told = self.figures.told[name]
            told.good += call.error is None
            told.wrong += flagged and call.error is None
            told.right += flagged and call.error is not None
            told.recurrences += recurs
            told.caught += flagged and recurs

    def _execute(self, run: Run, decisions: Sequence[Decision]) -> None:
        """Make the steps that were inserted before the first failing call of a recurrence, and the rest."""
        place = next(at for at, call in enumerate(run.calls) if call.error is not None)
        if _pattern(run.calls[place]) not in self._met:
            return
        figures = self.figures
        figures.variants += 1
        steps = [PlannedCall(step["tool"], step["arguments"]) for step in decisions[place].insert_steps]
        if not steps:
            return
        figures.inserted += 1
        calls = [PlannedCall(call.tool, call.args) for call in run.calls]
        outcome = execute(run.variant.task, [*calls[:place], *steps, *calls[place:]])
        figures.runs += outcome.runs
        figures.right += outcome.right

    def _align(self, failing: Failing, gold: Run) -> None:
        path = msgspec.structs.replace(failing.path, env=ENV)
        repair = Repair(failed=path, failure=failing.failure, fixed=path_of(gold, "success"))
        name, place = failing.run.variant.id, failing.failure.node.partition("-")[0]
        self._inducer.learn_alignment(repair, run=name, call_id=f"{name}/{place}")

    def _learn(self, run: Run, name: str) -> None:
        for seq, call in enumerate(run.calls):
            self._inducer.learn(
                ObservedCall(
                    id=f"{name}/{seq}", run=name, tool=call.tool, input=call.args,
                    failed=call.error is not None, message=call.error or "", env=ENV,
                )
            )  # fmt: skip
        self._inducer.end_run(name)


def rows(figures: Figures) -> list[list[Any]]:
    """The table of flags: precision, recall over recurrences, share of good calls flagged."""
    return [
        [name, _share(told.right, told.right + told.wrong), _share(told.caught, told.recurrences),
         _share(told.wrong, told.good), told.right + told.wrong, told.good, told.recurrences]
        for name, told in figures.told.items()
    ]  # fmt: skip


COLUMNS = ["rules", "precision", "recall", "false block", "flags", "good", "recurrences"]
EXECUTED = ["recurrent variants", "step inserted", "then ran", "right", "rules", "learning s", "longest ms"]


def executed(steps: Steps) -> list[Any]:
    """The row of what came of the inserted steps."""
    figures = steps.figures
    counts = [figures.variants, figures.inserted, figures.runs, figures.right, len(steps.proposals)]
    return [*counts, round(figures.learning, 2), round(figures.longest * 1_000, 1)]


def _share(part: int, whole: int) -> float | str:
    return round(part / whole, 4) if whole else "no data"


def _pattern(call: Call) -> tuple[str, str]:
    return call.tool, LITERALS.sub("<>", call.error or "")
