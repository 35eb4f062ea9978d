"""Text to plain values, with the line of each: what YAML and JSON have in common here."""

from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 40
MAX_VALUES = 500_000

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Tree:
    """A document and where its parts stand. ``lines`` may be empty: then the format does not tell."""

    value: Any
    lines: dict[Path, int] = field(default_factory=dict)

    def line_of(self, path: Path) -> int | None:
        """The line of a part, or of the nearest part around it."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


class TreeError(ValueError):
    """Text that is no tree of plain values; ``line`` is None where unknown."""

    def __init__(self, detail: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(detail)
