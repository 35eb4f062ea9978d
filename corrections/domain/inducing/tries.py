"""Second tries: a run in which calls failed, beside one of the very same goal that went well throughout."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from corrections.domain.inducing.calls import ObservedCall
from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_edits import FailurePoint, Repair

MAX_GOALS = 2_000
MAX_WAITING = 20
MAX_CALLS = 200
MAX_POINTS = 3
"""Failing calls of a run that are looked at, from its first on."""


@dataclass(frozen=True)
class WholeRun:
    """A finished run: its goal and environment's scope, its calls in order, whether it reached its goal."""

    name: str
    goal: str
    calls: tuple[ObservedCall, ...]
    is_success: bool

    @property
    def is_clean(self) -> bool:
        """It reached its goal and no call failed."""
        return self.is_success and bool(self.calls) and not any(call.failed for call in self.calls)


class Alignment(NamedTuple):
    """A repair with the name of the failed run and of its failing call."""

    repair: Repair
    run: str
    call_id: str


@dataclass
class _Goal:
    waiting: dict[str, WholeRun] = field(default_factory=dict)
    clean: WholeRun | None = None


class SecondTries:
    """Runs by goal and scope; the oldest of ``MAX_GOALS`` goals are forgotten.

    Of each the shortest clean run is kept (the newest of equals), and the last ``MAX_WAITING`` failed ones
    that wait for one.
    """

    def __init__(self) -> None:
        self._goals: dict[str, _Goal] = {}

    def meet(self, run: WholeRun) -> Iterator[Alignment]:
        """One more finished run; what it shows about runs before, or they about it."""
        if not run.goal.strip() or not run.calls or len(run.calls) > MAX_CALLS:
            return
        key = _key(run)
        goal = self._goals.pop(key, None) or _Goal()
        self._goals[key] = goal
        if run.is_clean:
            if goal.clean is None or len(run.calls) <= len(goal.clean.calls):
                goal.clean = run
            waiting, goal.waiting = list(goal.waiting.values()), {}
            for failed in waiting:
                yield from alignments(failed, goal.clean)
        elif any(call.failed for call in run.calls):
            if goal.clean is not None:
                yield from alignments(run, goal.clean)
            else:
                goal.waiting[run.name] = run
                if len(goal.waiting) > MAX_WAITING:
                    del goal.waiting[next(iter(goal.waiting))]
        if len(self._goals) > MAX_GOALS:
            del self._goals[next(iter(self._goals))]


def alignments(failed: WholeRun, clean: WholeRun) -> Iterator[Alignment]:
    """A repair for each of the first failing calls."""
    path, fixed = _path(failed, "failure"), _path(clean, "success")
    places = [place for place, call in enumerate(failed.calls) if call.failed]
    for place in places[:MAX_POINTS]:
        call = failed.calls[place]
        point = FailurePoint(
            node=path.nodes[place].name, message=call.message, error_type=call.error_type or "error"
        )
        yield Alignment(Repair(failed=path, failure=point, fixed=fixed), failed.name, call.id)


def _path(run: WholeRun, result: str) -> PathDoc:
    return PathDoc(
        goal=run.goal,
        nodes=tuple(
            NodeDoc(name=f"{place}-{call.tool}", tool=call.tool, params=dict(call.input))
            for place, call in enumerate(run.calls)
        ),
        result="success" if result == "success" else "failure",
        env=dict(run.calls[0].env),
    )


def _key(run: WholeRun) -> str:
    said = repr((run.goal, run.calls[0].scope()))
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
