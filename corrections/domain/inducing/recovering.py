"""What else than another input made a failure go away: a step that was missing, or another tool.

A *recovery* is what one run shows. What several runs agree on becomes an action; arguments are said as
templates over the failing call's input wherever that explains them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from corrections.domain.inducing.calls import ObservedCall
from corrections.domain.inducing.features import MAX_SHORT, REDACTED
from corrections.domain.inducing.phrases import field
from corrections.domain.inducing.surroundings import is_telling

MIN_RUNS = 2
"""Runs that must show the same."""
MAX_BETWEEN = 10
"""Calls after a failing one in which a recovery is looked for."""
MAX_USED = 50
MAX_ARGUMENTS = 40
MOSTLY = 0.8
"""Share of the runs that must agree on an argument's value."""


@dataclass(frozen=True, eq=False)
class Recovery:
    """``insert``: the tool was called before the call was made again; ``switch``: it was called instead."""

    run: str
    kind: Literal["insert", "switch"]
    tool: str
    arguments: Mapping[str, Any]
    failed_input: Mapping[str, Any]


@dataclass(frozen=True)
class MissingStep:
    """A step to make first. ``unknown`` names the arguments that runs filled in differently."""

    tool: str
    arguments: dict[str, Any]
    unknown: tuple[str, ...]
    passed: tuple[tuple[str, str], ...]
    """Pairs of the step's argument and the call's argument that always had the same value."""
    runs: int


def recoveries_of(failed: ObservedCall, later: Sequence[ObservedCall]) -> tuple[Recovery, ...]:
    """What the rest of the run shows about a failing call."""
    between: list[ObservedCall] = []
    for call in later[:MAX_BETWEEN]:
        if call.tool != failed.tool:
            between += [] if call.failed else [call]
        elif not call.failed:
            same = dict(call.input) == dict(failed.input)
            return tuple(_recovery("insert", failed, step) for step in between) if same else ()
    took_over = next((call for call in between[:MIN_RUNS] if takes_over(failed.input, call.input)), None)
    return (_recovery("switch", failed, took_over),) if took_over else ()


def _recovery(kind: Literal["insert", "switch"], failed: ObservedCall, call: ObservedCall) -> Recovery:
    return Recovery(failed.run, kind, call.tool, call.input, failed.input)


def takes_over(failed: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether every value of the failing input is in the other one, one of them telling."""
    values = list(islice(other.values(), MAX_ARGUMENTS))
    mine = list(islice(failed.values(), MAX_ARGUMENTS))
    return any(map(is_telling, mine)) and all(value in values for value in mine)


def missing_step(recoveries: Sequence[Recovery], failing_runs: int) -> MissingStep | None:
    """The step that most failing runs with a recovery lacked, and at least ``MIN_RUNS`` of them."""
    inserts = [one for one in recoveries if one.kind == "insert"]
    tool = _agreed(inserts, {one.run for one in recoveries})
    if tool is None or failing_runs < MIN_RUNS:
        return None
    shown = [one for one in inserts if one.tool == tool][-MAX_USED:]
    names = list(dict.fromkeys(name for one in shown for name in islice(one.arguments, MAX_ARGUMENTS)))
    arguments, unknown, passed = {}, [], []
    for name in names:
        source = _source(name, shown)
        value = _constant(name, shown)
        if source is not None:
            arguments[name] = f"{{{{ {field('input', source)} }}}}"
            passed.append((name, source))
        elif value is not _UNKNOWN:
            arguments[name] = value
        elif sum(name in one.arguments for one in shown) > len(shown) / 2:
            unknown.append(name)
    runs = len({one.run for one in shown})
    return MissingStep(tool, arguments, tuple(unknown), tuple(passed), runs)


def switch_detail(recoveries: Sequence[Recovery]) -> dict[str, Any] | None:
    """The detail of a ``TOOL_SWITCH`` that most recovered runs agree on."""
    switches = [one for one in recoveries if one.kind == "switch"]
    tool = _agreed(switches, {one.run for one in recoveries})
    if tool is None:
        return None
    shown = [one for one in switches if one.tool == tool][-MAX_USED:]
    names = list(dict.fromkeys(name for one in shown for name in islice(one.arguments, MAX_ARGUMENTS)))
    parameters, constants = {}, {}
    for name in names:
        source = _source(name, shown)
        value = _constant(name, shown)
        if source is not None:
            parameters[name] = source
        elif value is not _UNKNOWN:
            constants[name] = value
        elif all(name in one.arguments for one in shown):
            return None
    return {"tool": tool, "parameters": parameters, "constants": constants, "keep_unmapped": False}


def _agreed(shown: Sequence[Recovery], runs: set[str]) -> str | None:
    """The tool that more than half of the runs show, the latest made among equals."""
    by_tool: dict[str, set[str]] = {}
    for one in shown:
        by_tool.setdefault(one.tool, set()).add(one.run)
    best = max(by_tool, key=lambda tool: (len(by_tool[tool]), tool), default=None)
    if best is None or len(by_tool[best]) < MIN_RUNS or 2 * len(by_tool[best]) <= len(runs):
        return None
    return best


_UNKNOWN = object()


def _source(name: str, shown: Sequence[Recovery]) -> str | None:
    """The argument of the failing call whose value the step's argument always had."""
    names = list(islice(shown[-1].failed_input, MAX_ARGUMENTS))
    for other in names:
        values = [
            (one.arguments[name], one.failed_input[other])
            for one in shown
            if name in one.arguments and other in one.failed_input
        ]
        if len(values) == len(shown) and all(type(a) is type(b) and a == b for a, b in values):
            different = {repr(a) for a, _b in values}
            if len(different) > 1 or (is_telling(values[0][0]) and len(shown) >= MIN_RUNS):
                return other
    return None


def _constant(name: str, shown: Sequence[Recovery]) -> Any:
    """The value that nearly all runs say, ``_UNKNOWN`` where they do not agree."""
    counted = Counter(repr(one.arguments[name]) for one in shown if name in one.arguments)
    text, times = max(counted.items(), key=lambda item: (item[1], item[0]))
    values = [one for one in shown if name in one.arguments and repr(one.arguments[name]) == text]
    if times < MOSTLY * len(shown) or len({one.run for one in values}) < MIN_RUNS:
        return _UNKNOWN
    value = values[0].arguments[name]
    return value if _may_be_said(value) else _UNKNOWN


def _may_be_said(value: Any) -> bool:
    """A short value, or a short list of such; nothing redacted, nothing that reads as a template."""
    if isinstance(value, list):
        return len(value) <= MAX_ARGUMENTS and all(map(_may_be_said, value))
    if isinstance(value, str):
        return len(value) <= MAX_SHORT and REDACTED not in value and "{{" not in value
    return value is None or isinstance(value, bool | int | float)
