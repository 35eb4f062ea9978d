"""What happens when a task that is known arrives again: one rule, as a pure function.

The rule (``docs/experience.md`` says it for users): what is already there and says the same changes
nothing; what is new is added; what says something else is a conflict, and then nothing at all is
written. Outcomes are never replaced, only added; the strongest source wins.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from memory.domain.intake import FieldError
from memory.domain.records import CallRecord, OutcomeRecord, StepRecord, TaskRecord

AUTHORITY = {"human": 3, "evaluator": 2, "environment": 1, "agent": 0}


class StoredCall(msgspec.Struct, frozen=True):
    """What the merge needs of a stored call: the digest it was stored with, and its step."""

    digest: str
    step: int


class StoredTask(msgspec.Struct, frozen=True):
    """A task as stored (already redacted). ``steps``: index -> digest of its reasoning, empty if none.

    ``outcomes`` are in the order in which they were stored.
    """

    goal: str = ""
    tags: tuple[str, ...] = ()
    agent: str = ""
    framework: str = ""
    root_task: str = ""
    env: Mapping[str, Any] = {}
    started_at: datetime | None = None
    finished_at: datetime | None = None
    final: bool = False
    calls: Mapping[int, StoredCall] = {}
    steps: Mapping[int, str] = {}
    outcomes: tuple[OutcomeRecord, ...] = ()


class MergePlan(msgspec.Struct, frozen=True):
    """What to write. ``fill``: task fields -> new value. ``outcome_now``: the one that counts after it."""

    insert: bool = False
    fill: dict[str, Any] = {}
    calls: tuple[CallRecord, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    fill_steps: tuple[StepRecord, ...] = ()
    outcome: OutcomeRecord | None = None
    outcome_now: OutcomeRecord | None = None

    @property
    def unchanged(self) -> bool:
        """Whether everything was there already."""
        return not (self.insert or self.fill or self.calls or self.steps or self.fill_steps or self.outcome)


class MergeConflict(msgspec.Struct, frozen=True):
    """Why the document cannot be merged; the answer is 409 and nothing is written."""

    errors: tuple[FieldError, ...]


def merge_task(stored: StoredTask | None, incoming: TaskRecord) -> MergePlan | MergeConflict:
    """Decide what a document adds to what is stored under its external id."""
    if stored is None:
        outcome = incoming.outcome
        return MergePlan(
            insert=True, calls=incoming.calls, steps=incoming.steps, outcome=outcome, outcome_now=outcome
        )
    errors = [
        *_field_conflicts(stored, incoming),
        *_call_conflicts(stored, incoming),
        *_step_conflicts(stored, incoming),
    ]
    if errors:
        return MergeConflict(tuple(errors))
    outcome = incoming.outcome if incoming.outcome and not _is_known(stored, incoming.outcome) else None
    said = (*stored.outcomes, outcome) if outcome else stored.outcomes
    steps = tuple(_new_steps(stored, incoming))
    return MergePlan(
        fill=_filled(stored, incoming),
        calls=tuple(call for call in incoming.calls if call.seq not in stored.calls),
        steps=tuple(step for step in steps if step.index not in stored.steps),
        fill_steps=tuple(
            step
            for step in steps
            if step.reasoning_digest and step.index in stored.steps and not stored.steps[step.index]
        ),
        outcome=outcome,
        outcome_now=effective_outcome(said),
    )


def effective_outcome(outcomes: tuple[OutcomeRecord, ...]) -> OutcomeRecord | None:
    """The outcome that counts: human > evaluator > environment > agent, the newest of equals.

    ``outcomes`` are in the order in which they arrived. A statement of result ``unknown`` without a
    reward counts only when nothing else was said.
    """
    if not outcomes:
        return None
    telling = [item for item in outcomes if item.result != "unknown" or item.reward is not None]
    ranked = enumerate(telling or outcomes)
    return max(ranked, key=lambda pair: (AUTHORITY[pair[1].by], pair[0]))[1]


def _field_conflicts(stored: StoredTask, incoming: TaskRecord) -> Iterator[FieldError]:
    for name in ("goal", "agent", "framework", "root_task", "started_at", "finished_at"):
        old, new = getattr(stored, name), getattr(incoming, name)
        if old and new and old != new:
            yield FieldError(name, f"The task already has another {name}: {_shown(old)}.")
    for name, new in incoming.env.items():
        old = stored.env.get(name)
        if old is not None and new is not None and old != new:
            yield FieldError(f"env.{name}", f"The task's environment already says {_shown(old)}.")


def _call_conflicts(stored: StoredTask, incoming: TaskRecord) -> Iterator[FieldError]:
    for position, call in enumerate(incoming.calls):
        known = stored.calls.get(call.seq)
        if known is None:
            if stored.final:
                yield FieldError(f"calls.{position}", "The task is final; no call can be added.")
        elif known.digest != call.digest:
            yield FieldError(f"calls.{position}", f"Call {call.seq} is already recorded with other content.")


def _step_conflicts(stored: StoredTask, incoming: TaskRecord) -> Iterator[FieldError]:
    for position, step in enumerate(incoming.steps):
        known = stored.steps.get(step.index, "")
        if known and step.reasoning_digest and known != step.reasoning_digest:
            yield FieldError(
                f"steps.{position}", f"Step {step.index} is already recorded with another reasoning."
            )


def _is_known(stored: StoredTask, outcome: OutcomeRecord) -> bool:
    """A statement counts once: a late repetition must not override what was said in between."""
    return any(item.digest == outcome.digest for item in stored.outcomes)


def _filled(stored: StoredTask, incoming: TaskRecord) -> dict[str, Any]:
    fill: dict[str, Any] = {}
    for name in ("goal", "agent", "framework", "root_task", "started_at", "finished_at"):
        new = getattr(incoming, name)
        if new and not getattr(stored, name):
            fill[name] = new
    tags = tuple(dict.fromkeys((*stored.tags, *incoming.tags)))
    if tags != stored.tags:
        fill["tags"] = tags
    env = {
        name: new for name, new in incoming.env.items() if new is not None and stored.env.get(name) is None
    }
    if env:
        fill["env"] = {**stored.env, **env}
    if incoming.final and not stored.final:
        fill["final"] = True
    return fill


def _new_steps(stored: StoredTask, incoming: TaskRecord) -> Iterator[StepRecord]:
    """Steps that have content of their own now, also because a second call joined a stored one."""
    yield from incoming.steps
    given = {step.index for step in incoming.steps} | stored.steps.keys()
    sizes: dict[int, int] = {}
    for known in stored.calls.values():
        sizes[known.step] = sizes.get(known.step, 0) + 1
    for call in incoming.calls:
        if call.seq not in stored.calls and call.step not in given and sizes.get(call.step):
            given.add(call.step)
            yield StepRecord(index=call.step, reasoning="", reasoning_digest="")


def _shown(value: object) -> str:
    text = value.isoformat() if isinstance(value, datetime) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."  # a readable line
