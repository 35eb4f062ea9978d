"""What the worker finds in a recorded task: failures with their pattern and context, inputs that worked.

A pure function of the task's content, so finding the same again gives the same: ``detector`` names where
something was found and makes writing it twice harmless.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from memory.domain.context import PastCall, snapshot_context
from memory.domain.failures import CallSnapshot, FailureFinding, detect_failure, detect_outcome_failure
from memory.domain.patterns import PatternKey, pattern_of
from memory.domain.validators import CompiledValidator

TASK_LEVEL = "(task)"
"""Stands for the tool where a task failed as a whole."""

MAX_PROBLEMS = 20


class SeenCall(msgspec.Struct, frozen=True):
    """A stored call. ``is_new`` false: analysed before, here only as context."""

    id: int
    seq: int
    call: CallSnapshot
    reasoning_digest: str
    tool_version: str
    happened_at: datetime
    is_new: bool = True


class SeenTask(msgspec.Struct, frozen=True):
    """A stored task. ``failed_before``: its failed calls that are known already."""

    goal: str
    env: Mapping[str, Any]
    outcome: str
    reward: float | None
    note: str
    happened_at: datetime
    calls: Sequence[SeenCall]
    failed_before: int = 0
    has_outcome_failure: bool = False


class Watch(msgspec.Struct, frozen=True):
    """A validator of the workspace, ready to run on the calls of the tools its glob names."""

    id: int
    uuid: str
    tool: str
    validator: CompiledValidator


class Finding(msgspec.Struct, frozen=True):
    """One failure. ``call_id`` is None where the task failed as a whole."""

    detector: str
    source: Literal["explicit", "validator", "outcome"]
    call_id: int | None
    validator_id: int | None
    failure: FailureFinding
    pattern: PatternKey
    context: dict[str, Any]
    happened_at: datetime


class Analysis(msgspec.Struct):
    """Everything found in a task. ``worked``: new calls without a failure; ``problems``: what raised."""

    findings: list[Finding] = []
    worked: list[SeenCall] = []
    failed: list[SeenCall] = []
    problems: list[str] = []
    unchecked: dict[int, str] = {}


def analyse_task(task: SeenTask, watches: Sequence[Watch] = ()) -> Analysis:
    """Look at the new calls and at the outcome of a task.

    Validators look for silent failures only: a call that failed openly needs no second finding. A call
    whose analysis raises is named in ``problems`` and does not stop the others. ``unchecked`` has, by
    validator id, the last reason why one could not be evaluated.
    """
    analysis = Analysis(findings=[], worked=[], failed=[], problems=[], unchecked={})
    past = [PastCall(item.seq, item.call, item.reasoning_digest) for item in task.calls]
    for place, item in enumerate(task.calls):
        if not item.is_new:
            continue
        try:
            found = list(_find_in_call(task, item, past[place], past, watches, analysis.unchecked))
        except Exception as error:
            _note(analysis, f"call {item.seq}", error)
            continue
        analysis.findings += found
        (analysis.failed if found else analysis.worked).append(item)
    try:
        analysis.findings += _find_in_outcome(task, len(analysis.failed))
    except Exception as error:
        _note(analysis, "outcome", error)
    return analysis


def _note(analysis: Analysis, where: str, error: Exception) -> None:
    if len(analysis.problems) < MAX_PROBLEMS:
        analysis.problems.append(f"{where}: {type(error).__name__}: {error}"[:500])


def _find_in_call(
    task: SeenTask,
    item: SeenCall,
    failed: PastCall,
    past: Sequence[PastCall],
    watches: Sequence[Watch],
    unchecked: dict[int, str],
) -> Iterator[Finding]:
    detector = f"call:{item.seq}"
    explicit = detect_failure(item.call)
    found = [(detector, None, explicit)] if explicit else list(_run(watches, item, unchecked))
    if not found:
        return
    context = snapshot_context(failed, past, task.env, goal=task.goal)
    for name, watch, failure in found:
        yield Finding(
            detector=name,
            source="validator" if watch else "explicit",
            call_id=item.id,
            validator_id=watch.id if watch else None,
            failure=failure,
            pattern=pattern_of(item.call.tool, failure, item.call.input, task.env),
            context=context,
            happened_at=item.happened_at,
        )


def _run(
    watches: Sequence[Watch], item: SeenCall, unchecked: dict[int, str]
) -> Iterator[tuple[str, Watch, FailureFinding]]:
    for watch in watches:
        if not fnmatchcase(item.call.tool, watch.tool):
            continue
        checked = watch.validator.check(item.call)
        if checked.verdict == "error":
            unchecked[watch.id] = checked.detail
        elif failure := watch.validator.failure(checked):
            yield f"call:{item.seq}:validator:{watch.uuid}", watch, failure


def _find_in_outcome(task: SeenTask, failed_now: int) -> Iterator[Finding]:
    if task.has_outcome_failure:
        return
    failure = detect_outcome_failure(
        result=task.outcome,
        reward=task.reward,
        note=task.note,
        failed_calls=task.failed_before + failed_now,
    )
    if failure is None:
        return
    yield Finding(
        detector="task",
        source="outcome",
        call_id=None,
        validator_id=None,
        failure=failure,
        pattern=pattern_of(TASK_LEVEL, failure, {}, task.env),
        context=_task_context(task),
        happened_at=task.happened_at,
    )


def _task_context(task: SeenTask) -> dict[str, Any]:
    """A task without a failed call: its last calls, seen from behind them."""
    past = [PastCall(item.seq, item.call, item.reasoning_digest) for item in task.calls]
    end = PastCall(max((item.seq for item in past), default=0) + 1, CallSnapshot(tool=TASK_LEVEL))
    return snapshot_context(end, past, task.env, goal=task.goal)
