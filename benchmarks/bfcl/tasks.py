"""The multi-turn tasks of BFCL and their leave-one-gold-step-out variants."""

import ast
import importlib.util
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.bfcl.tools import WheelMissingError, parameter_names

TASKS_FILE = "data/BFCL_v4_multi_turn_base.json"
GOLD_FILE = "data/possible_answer/BFCL_v4_multi_turn_base.json"


@dataclass(frozen=True, slots=True)
class GoldCall:
    """One call of the gold path. `turn` is the user turn it answers (0-based)."""

    tool: str
    args: dict[str, Any]
    turn: int


@dataclass(frozen=True, slots=True)
class Task:
    """One multi-turn task: what the user says turn by turn, the tools' start, the gold calls."""

    id: str
    turns: tuple[str, ...]
    classes: tuple[str, ...]
    initial: dict[str, Any]
    gold: tuple[GoldCall, ...]

    @property
    def goal(self) -> str:
        return "\n".join(turn for turn in self.turns if turn)


@dataclass(frozen=True, slots=True)
class Variant:
    """A task walked along its gold path with step `left_out` forgotten (None: the whole gold path)."""

    task: Task
    left_out: int | None = None

    @property
    def id(self) -> str:
        return f"{self.task.id}:{'gold' if self.left_out is None else self.left_out}"

    @property
    def calls(self) -> tuple[GoldCall, ...]:
        return tuple(call for place, call in enumerate(self.task.gold) if place != self.left_out)


@cache
def load_tasks() -> tuple[Task, ...]:
    """All 200 tasks in file order. Raises WheelMissingError when the wheel is not installed."""
    root = _wheel_root()
    gold = {row["id"]: row["ground_truth"] for row in _rows(root / GOLD_FILE)}
    return tuple(_task(row, gold[row["id"]]) for row in _rows(root / TASKS_FILE))


def variants(tasks: Iterable[Task]) -> Iterator[Variant]:
    """Every way to leave exactly one gold step out, task by task (1,142 over all tasks)."""
    for task in tasks:
        for place in range(len(task.gold)):
            yield Variant(task, place)


def _task(row: dict[str, Any], gold_turns: list[list[str]]) -> Task:
    classes = tuple(row["involved_classes"])
    return Task(
        id=row["id"],
        turns=tuple(_user_text(messages) for messages in row["question"]),
        classes=classes,
        initial=row["initial_config"],
        gold=tuple(
            _gold_call(source, turn, classes) for turn, calls in enumerate(gold_turns) for source in calls
        ),
    )


def _user_text(messages: list[dict[str, str]]) -> str:
    return "\n".join(message["content"] for message in messages if message["role"] == "user")


def _gold_call(source: str, turn: int, classes: tuple[str, ...]) -> GoldCall:
    """Read ``tool(a, name=b)``. Arguments are literals; nothing is evaluated."""
    call = ast.parse(source, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise TypeError(f"Not a tool call: {source}")
    tool = call.func.id
    names = parameter_names(classes, tool)
    args = {name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)}
    args |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    return GoldCall(tool=tool, args=args, turn=turn)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _wheel_root() -> Path:
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise WheelMissingError
    return Path(spec.submodule_search_locations[0])
