"""How many tasks of a canary were exposed, decided and failed, by stage and arm. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

GUARDRAILS = ("tool_error", "slow", "retried", "overridden")
"""What else may go wrong with an exposed task: columns of ``Exposure``."""


@dataclass(frozen=True)
class ArmNumbers:
    """One arm of one stage. ``failed`` and the guardrails count among ``decided``.

    ``timed`` are those of which is known whether a call was slow: what ``slow`` counts among.
    """

    exposed: int = 0
    crossed: int = 0
    decided: int = 0
    failed: int = 0
    tool_error: int = 0
    slow: int = 0
    retried: int = 0
    overridden: int = 0
    timed: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was exposed."""
        return self.exposed == 0

    def among(self, name: str) -> int:
        """How many tasks ``name`` (``failed`` or a guardrail) is counted among."""
        return self.timed if name == "slow" else self.decided

    def count(self, name: str) -> int:
        """How many tasks ``failed``, or ran into a guardrail of that name."""
        return int(getattr(self, name))

    def __add__(self, other: "ArmNumbers") -> "ArmNumbers":
        return ArmNumbers(**{name: n + getattr(other, name) for name, n in asdict(self).items()})


@dataclass(frozen=True)
class StageNumbers:
    """One stage: its place, its phase, the share of its canary arm in buckets, its arms."""

    number: int
    phase: str
    share: int
    arms: Mapping[str, ArmNumbers] = field(default_factory=dict)

    def arm(self, name: str) -> ArmNumbers:
        """The numbers of ``canary``, ``control`` or ``shadow``; zeros where nothing was exposed."""
        return self.arms.get(name, ArmNumbers())

    def to_dict(self) -> dict[str, Any]:
        """What ``CanaryStage.counts`` holds: an arm's numbers by name."""
        return {name: asdict(numbers) for name, numbers in self.arms.items()}
