"""The inducers of this process, one a workspace, each with the evidence that it has read.

An inducer is rebuilt by reading the newest recorded evidence again, in slices: nothing of it is stored. It
reads tasks in the order in which their analysis was finished; a task that got news comes again, and only its
new calls are told.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping

from django.conf import settings
from django.db import connection

from corrections.domain.inducing import Inducer, ObservedCall, Proposal, SecondTries, WholeRun, own_calls
from corrections.domain.proposing import EPOCH, cursor_of, is_about_hidden, read_proposed, rule_key
from corrections.live.prompted import PromptedSteps
from hgmem.rules import Rule, RuleError
from memory.queries.finished import (
    FinishedCall,
    FinishedTask,
    list_finished,
    list_finished_calls,
    start_of_newest,
)

BATCH_TASKS = 50
MAX_TASK_CALLS = 2_000
log = logging.getLogger(__name__)


class Reader:
    """One workspace's inducer and how far it has read. ``calls`` counts what it was told, since it began.

    ``known`` is the cursor up to which another reader has read before, ``new`` counts the calls behind it
    that were read since the last writing.
    ``first`` is the id of the oldest call that it may have been told; ``fault`` the last call that it could
    not take in. ``written`` is what the writer of proposals remembers of their evidence.
    """

    def __init__(self, workspace_id: int, known: int) -> None:
        self.workspace_id = workspace_id
        self.known = known
        self.inducer = Inducer()
        self._tries = SecondTries()
        self._prompted = PromptedSteps(workspace_id)
        self.calls = self.new = 0
        self.written: dict[str, int] = {}
        self.first: int | None = None
        self.fault = ""
        self.patterns: dict[int, tuple[int, ...]] = {}
        start = start_of_newest(workspace_id=workspace_id, calls=settings.INDUCER_CALLS)
        self.is_whole = start is None
        self._place = start or (EPOCH, 0)
        self._told: dict[int, tuple[int, int]] = {}
        self._unsettled: dict[int, int] = {}
        self._rules: dict[str, tuple[str, Rule] | None] = {}
        self._is_done = False
        self._steps = self._read()

    @property
    def cursor(self) -> int:
        """Up to which moment it has read everything, in microseconds: many tasks may have one moment."""
        return max(0, cursor_of(self._place[0]) - (not self._is_done))

    def settle(self) -> int:
        """How many new calls the cursor has passed since it was asked last. What lies at the cursor's own
        moment may be read again by the next reader, and is counted then."""
        passed = [moment for moment in self._unsettled if moment <= self.cursor]
        counts = {moment: self._unsettled.pop(moment) for moment in passed}
        return sum(count for moment, count in counts.items() if moment > self.known)

    def work(self, until: float) -> bool:
        """Read until that moment of ``time.monotonic()``; whether there may be more to read."""
        for may_have_more in self._steps:
            self._is_done = not may_have_more
            if self._is_done or time.monotonic() >= until:
                break
        if self._is_done:
            self._steps = self._read()
        return not self._is_done

    def proposed(self) -> dict[str, tuple[Proposal, Rule]]:
        """What the inducer proposes now, by the key of the rule. What the engine cannot take is left out."""
        found: dict[str, tuple[Proposal, Rule]] = {}
        for proposal in self.inducer.proposals():
            if proposal.key not in self._rules:
                self._rules[proposal.key] = _rule_of(proposal)
            named = self._rules[proposal.key]
            if named is not None:
                found[named[0]] = (proposal, named[1])
        return found

    def refuted(self) -> dict[str, int]:
        """Rules by key that it proposed once and no longer does, with how many good calls each would hit."""
        standing = {proposal.key for proposal in self.inducer.proposals()}
        gone = {key: named[0] for key, named in self._rules.items() if named and key not in standing}
        hits = {name: self.inducer.hits(key) for key, name in gone.items()}
        return {name: count for name, count in hits.items() if count}

    def is_full(self) -> bool:
        """Whether it has been told so much that it should begin anew with the newest evidence."""
        return self.calls > 2 * settings.INDUCER_CALLS

    def _read(self) -> Iterator[bool]:
        """Tell call after call; yields True after each, and False where nothing was left to read."""
        overlap = connection.vendor == "postgresql"
        while True:
            tasks = list_finished(
                workspace_id=self.workspace_id, after=self._place, limit=BATCH_TASKS, overlap=overlap
            )
            fresh = [task for task in tasks if self._told.get(task.id, (0, 0))[0] != task.revision]
            if not fresh:
                self._place = max([self._place, *((task.analysed_at, task.id) for task in tasks)])
                yield False
                return
            calls = list_finished_calls([task.id for task in fresh], most=MAX_TASK_CALLS)
            prompted = self._prompted.count(calls.values())
            for task in fresh:
                yield from self._tell(task, calls[task.id], prompted)
                self._place = max(self._place, (task.analysed_at, task.id))

    def _tell(
        self, task: FinishedTask, calls: list[FinishedCall], prompted: Mapping[int, int]
    ) -> Iterator[bool]:
        _revision, last = self._told.get(task.id, (0, 0))
        seen = [_observed(task, call, prompted.get(call.id, 0)) for call in calls]
        for call, one in zip(calls, seen, strict=True):
            if call.id > last:
                self._learn(task, call, one)
                yield True
        self._attempt(task.external_id, lambda: self.inducer.end_run(str(task.id)))
        self._attempt(task.external_id, lambda: self._align(task, seen))
        self._told[task.id] = (task.revision, max([last, *(call.id for call in calls)]))
        yield True

    def _align(self, task: FinishedTask, seen: list[ObservedCall]) -> None:
        """A run in which calls failed beside one of the same goal that went well, whichever came first; and
        what steps that rules asked for made go well."""
        run = WholeRun(str(task.id), task.goal, own_calls(seen), task.is_success)
        for repair, name, call_id in self._tries.meet(run):
            self.inducer.learn_alignment(repair, run=name, call_id=call_id)
        if run.is_clean:
            self.inducer.learn_saved(run.calls)

    def _learn(self, task: FinishedTask, call: FinishedCall, seen: ObservedCall) -> None:
        self.calls += 1
        moment = cursor_of(task.analysed_at)
        self.new += moment > self.known
        self._unsettled[moment] = self._unsettled.get(moment, 0) + 1
        self.first = call.id if self.first is None else min(self.first, call.id)
        if call.patterns:
            self.patterns[call.id] = call.patterns
        self._attempt(f"{task.external_id} call {call.id}", lambda: self.inducer.learn(seen))

    def _attempt(self, what: str, step: Callable[[], None]) -> None:
        """One call that cannot be taken in must not keep all others out."""
        try:
            step()
        except Exception as error:
            log.exception("The inducer cannot take in %s.", what)
            self.fault = f"{what}: {type(error).__name__}: {error}"[:2_000]


def _observed(task: FinishedTask, call: FinishedCall, prompted: int) -> ObservedCall:
    return ObservedCall(
        id=str(call.id), run=str(task.id), tool=call.tool, input=call.input, failed=call.failed,
        message=call.message, error_type=call.error_type, env=task.env, goal=task.goal,
        prompted=prompted,
    )  # fmt: skip


def _rule_of(proposal: Proposal) -> tuple[str, Rule] | None:
    try:
        rule = read_proposed(proposal.document())
    except RuleError:
        return None
    return None if is_about_hidden(rule) else (rule_key(rule), rule)


class Readers:
    """The readers of this process."""

    def __init__(self) -> None:
        self._readers: dict[int, Reader] = {}

    def get(self, workspace_id: int, cursor: int) -> Reader:
        """The workspace's reader; a new one begins with the newest evidence.

        ``cursor`` is how far anybody has read: nothing up to there is new.
        """
        reader = self._readers.get(workspace_id)
        if reader is None or reader.is_full():
            reader = self._readers[workspace_id] = Reader(workspace_id, cursor)
        return reader

    def drop(self, workspace_id: int) -> None:
        """Forget one: it was interrupted, or another process reads now."""
        self._readers.pop(workspace_id, None)

    def forget(self) -> None:
        """Forget all (tests)."""
        self._readers.clear()


READERS = Readers()
