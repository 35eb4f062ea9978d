"""Counting flags against what really happened."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """What really happened in one call. ``fine`` is None for one that went well."""

    run: str
    tool: str
    fine: str | None
    is_recurrence: bool


@dataclass
class Tally:
    """What one matcher did on one stream.

    A *recurrence* is an error whose fine pattern was seen in an earlier run. The ``once`` sets count each
    (run, fine pattern) one time, and false flags each (run, tool) one time.
    """

    name: str
    right: int = 0
    wrong: int = 0
    good: int = 0
    recurrences: int = 0
    caught: int = 0
    right_once: set[tuple[str, str]] = field(default_factory=set)
    wrong_once: set[tuple[str, str]] = field(default_factory=set)
    recurrences_once: set[tuple[str, str]] = field(default_factory=set)
    caught_once: set[tuple[str, str]] = field(default_factory=set)

    def count(self, case: Case, *, flagged: bool) -> None:
        """One call, and whether the matcher spoke up before it."""
        if case.fine is None:
            self.good += 1
            if flagged:
                self.wrong += 1
                self.wrong_once.add((case.run, case.tool))
            return
        once = (case.run, case.fine)
        if flagged:
            self.right += 1
            self.right_once.add(once)
        if case.is_recurrence:
            self.recurrences += 1
            self.recurrences_once.add(once)
            if flagged:
                self.caught += 1
                self.caught_once.add(once)

    @property
    def precision(self) -> float | None:
        """Right flags among all flags; None without flags."""
        return share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """Recurrences that were flagged; None without recurrences."""
        return share(self.caught, self.recurrences)

    @property
    def false_block(self) -> float | None:
        """Good calls that were flagged."""
        return share(self.wrong, self.good)

    @property
    def precision_once(self) -> float | None:
        """``precision`` over the ``once`` sets."""
        return share(len(self.right_once), len(self.right_once) + len(self.wrong_once))

    @property
    def recall_once(self) -> float | None:
        """``recall`` over the ``once`` sets."""
        return share(len(self.caught_once), len(self.recurrences_once))


def share(part: int, whole: int) -> float | None:
    """``part / whole``; None for an empty whole: "not enough data" is an answer."""
    return part / whole if whole else None
