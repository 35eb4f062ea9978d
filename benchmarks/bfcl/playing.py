"""Play a variant against the real tools and say how it ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.bfcl.tasks import Task, Variant, load_tasks
from benchmarks.bfcl.tools import Environment


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that is about to be made."""

    tool: str
    args: dict[str, Any]
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made: `output` as JSON values, `error` the tool's own message or None."""

    tool: str
    args: dict[str, Any]
    output: Any
    error: str | None
    turn: int
    receipt: str = ""


# Told the call about to be made and the calls made so far; answers with the calls to make in its place
# (changed, preceded by others, none at all), or None to leave it as it is.
BeforeCall = Callable[[PlannedCall, Sequence[Call]], "Sequence[PlannedCall] | None"]


@dataclass(frozen=True, slots=True)
class Run:
    """A played variant. `ok`: no call failed and the final state equals the gold path's."""

    variant: Variant
    calls: tuple[Call, ...]
    final_state: dict[str, Any]

    @property
    def errors(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.error is not None)

    @property
    def reaches_gold(self) -> bool:
        return self.final_state == _gold_state(self.variant.task.id)

    @property
    def ok(self) -> bool:
        return not self.errors and self.reaches_gold

    def to_document(self, *, run: str = "bfcl") -> dict[str, Any]:
        """The run as an experience document. `run` starts the external id, so that passes stay apart.

        The gold path itself is never part of it; only the verdict is, as the evaluator's.
        """
        task = self.variant.task
        return {
            "external_id": f"{run}:{self.variant.id}",
            "goal": task.goal[:20_000],
            "tags": ["bfcl", *sorted(task.classes)],
            "agent": "bfcl-player",
            "framework": "bfcl",
            "env": {"domain": "bfcl"},
            "final": True,
            "outcome": {
                "result": "success" if self.reaches_gold else "failure",
                "reward": 1.0 if self.reaches_gold else 0.0,
                "by": "evaluator",
            },
            "calls": [_call_document(seq, call) for seq, call in enumerate(self.calls)],
        }


def play(variant: Variant, before_call: BeforeCall | None = None) -> Run:
    """Make the variant's calls one after the other, carrying on after an error as the gold path does.

    With `before_call` every planned call is first shown to the hook; the calls it puts in its place are
    made without asking again.
    """
    environment = Environment(variant.task.classes, variant.task.initial)
    made: list[Call] = []
    for gold in variant.calls:
        planned = PlannedCall(gold.tool, gold.args)
        answer = before_call(planned, tuple(made)) if before_call else None
        for now in [planned] if answer is None else answer:
            output, error = environment.call(now.tool, now.args)
            made.append(Call(now.tool, now.args, output, error, gold.turn, now.receipt))
    return Run(variant=variant, calls=tuple(made), final_state=environment.state())


@cache
def _gold_state(task_id: str) -> dict[str, Any]:
    return play(Variant(_tasks_by_id()[task_id])).final_state


@cache
def _tasks_by_id() -> dict[str, Task]:
    return {task.id: task for task in load_tasks()}


def _call_document(seq: int, call: Call) -> dict[str, Any]:
    document: dict[str, Any] = {
        "tool": call.tool,
        "input": call.args,
        "output": call.output,
        "seq": seq,
        "step": call.turn,
        "status": "ok" if call.error is None else "error",
    }
    if call.error is not None:
        document["error"] = {"message": call.error[:20_000]}
    if call.receipt:
        document["receipt"] = call.receipt
    return document
