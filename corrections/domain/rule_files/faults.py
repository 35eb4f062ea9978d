"""What can be wrong with a file of rules, and where."""

from dataclasses import asdict, dataclass
from typing import Any

MAX_FAULTS = 100


@dataclass(frozen=True)
class Fault:
    """One fault. ``line`` counts from 1, None where unknown; ``rule`` and ``field`` may be empty."""

    file: str
    line: int | None
    rule: str
    field: str
    detail: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        named = ": ".join(part for part in (self.rule, self.field) if part)
        return f"{place}: {named}: {self.detail}" if named else f"{place}: {self.detail}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


class RuleFileError(ValueError):
    """Files that cannot be read; ``faults`` are all of them, at most ``MAX_FAULTS``."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults[:MAX_FAULTS]
        super().__init__("\n".join(str(fault) for fault in self.faults))
