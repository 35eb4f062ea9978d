"""What is counted: decided tasks of the two arms while the share of the canary arm was the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ArmCounts:
    """Tasks of one arm whose end is known (``n``), and those of them that failed.

    Raises:
        ValueError: a negative count, or more failed than there are.
    """

    n: int = 0
    failed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.failed <= self.n:
            raise ValueError("failed tasks are between 0 and the number of tasks")

    @property
    def succeeded(self) -> int:
        """Tasks that did not fail."""
        return self.n - self.failed


@dataclass(frozen=True)
class StageCounts:
    """One stage: ``share`` (0 to 1) is the probability with which an exposed task was in the canary arm.

    Raises:
        ValueError: the share is not strictly between 0 and 1.
    """

    share: float
    canary: ArmCounts = ArmCounts()
    control: ArmCounts = ArmCounts()

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise ValueError("the share of a stage lies strictly between 0 and 1")

    @property
    def n(self) -> int:
        """Decided tasks of both arms."""
        return self.canary.n + self.control.n
