"""P2 on BFCL: tasks walked with one gold step left out; rules may change a call or put a step before it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.bfcl import Call, PlannedCall, Run, Variant, load_tasks, play, variants
from benchmarks.bfcl.tools import WheelMissingError
from benchmarks.induced import Induced
from benchmarks.report import Report
from benchmarks.streams import Call as Recorded

DOMAIN = "bfcl"


@dataclass
class Tally:
    """What rules did in the runs of a walk, and how those ended."""

    runs: int = 0
    fired: int = 0
    ran: int = 0
    runs_fired: int = 0
    ok: int = 0
    gold: int = 0
    gold_without: int = 0


@dataclass
class _Advice:
    """The hook of one run: asks before each call and does what it is told."""

    induced: Induced
    variant: Variant
    fired: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, planned: PlannedCall, made: Sequence[Call]) -> list[PlannedCall] | None:
        history = [
            {"tool": call.tool, "input": call.args, "status": "error" if call.error is not None else "ok"}
            for call in made
        ]
        decision = self.induced.decide(
            {"tool": planned.tool, "input": planned.args, "history": history, "env": {"domain": DOMAIN},
             "task": {"id": self.variant.id, "goal": self.variant.task.goal}}
        )  # fmt: skip
        steps = [PlannedCall(step["tool"], step["arguments"]) for step in decision.insert_steps]
        if decision.block or decision.ask or (not steps and decision.input == planned.args):
            return None
        self.fired.append((len(made), len(steps) + 1))
        return [*steps, PlannedCall(decision.tool, decision.input)]


def measure_bfcl(report: Report) -> None:
    """Walk all failing variants in task order; learn from each as it went without advice."""
    try:
        tasks = load_tasks()
    except WheelMissingError as missing:
        report.note(f"BFCL left out. {missing}")
        return
    tally, induced = Tally(), Induced()
    with report.progress("bfcl", total=len(tasks)) as advance:
        for task in tasks:
            for variant in variants([task]):
                plain = play(variant)
                if plain.errors:
                    _judge(variant, plain, induced, tally)
                _learn(plain, induced)
            advance(1)
    report.table(
        "BFCL: failing variants, in task order",
        ["variants", "advice followed", "and no error there", "runs with advice", "of them ok",
         "gold state", "gold state without advice"],
        [[tally.runs, tally.fired, tally.ran, tally.runs_fired, tally.ok, tally.gold, tally.gold_without]],
    )  # fmt: skip


def _judge(variant: Variant, plain: Run, induced: Induced, tally: Tally) -> None:
    advice = _Advice(induced, variant)
    run = play(variant, advice)
    tally.runs += 1
    tally.fired += len(advice.fired)
    tally.ran += sum(
        all(call.error is None for call in run.calls[at : at + size]) for at, size in advice.fired
    )
    if advice.fired:
        tally.runs_fired += 1
        tally.ok += run.ok
        tally.gold += run.reaches_gold
        tally.gold_without += plain.reaches_gold


def _learn(run: Run, induced: Induced) -> None:
    for seq, call in enumerate(run.calls):
        obs: Any = call.error if call.error is not None else call.output
        induced.learn(
            run.variant.id, seq, Recorded(call.tool, call.args, obs, call.error is not None), DOMAIN
        )
    induced.end(run.variant.id)
