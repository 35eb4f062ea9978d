"""The counters of the insight pass. A new one is a module with these names and a line in ``COUNTERS``."""

from collections.abc import Sequence
from typing import Protocol

from memory.background.insights import failure_hours, repeats, retries, sequences, speed, ways
from memory.domain.insights.contributions import JSON
from memory.domain.insights.runs import InsightRun


class Counter(Protocol):
    """What is counted of tasks, one by one.

    ``NAME`` never changes: contributions are stored under it. ``contribute`` is pure and small (at most
    ``MAX_BYTES`` as JSON); what it raises is noted at the task and the other counters go on. ``apply`` takes
    ``removed`` contributions away from the counter's own tables and adds ``added`` ones, inside the pass's
    transaction, alone in its workspace. Both come as JSON decodes them (lists, text keys); a ``removed`` one
    may be of an earlier version of the counter, and what it does not know it leaves alone.
    """

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """Under which contributions are stored."""
        ...

    def contribute(self, run: InsightRun) -> JSON | None:
        """What this task adds; None for nothing."""
        ...

    def apply(self, workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
        """Change the counter's tables by what is taken away and what is added."""
        ...


COUNTERS: tuple[Counter, ...] = (speed, ways, retries, sequences, failure_hours, repeats)
"""All of them, in the order in which they write."""
