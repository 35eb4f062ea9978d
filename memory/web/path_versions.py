"""The versions of a path as a tree."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memory.models import Path

INDENTS = 6


@dataclass(frozen=True)
class Version:
    """A version, and how many steps below the first one it stands."""

    path: Path
    depth: int

    @property
    def indent(self) -> int:
        """How far it is moved in; a long chain does not leave the page."""
        return min(self.depth, INDENTS)


def version_tree(rows: Sequence[Path]) -> list[Version]:
    """The versions, every one after the one it was made from."""
    known = {row.pk for row in rows}
    children: dict[int | None, list[Path]] = defaultdict(list)
    for row in rows:
        children[row.parent_id if row.parent_id in known else None].append(row)
    found: list[Version] = []
    waiting = [(row, 0) for row in reversed(children[None])]
    while waiting:
        row, depth = waiting.pop()
        found.append(Version(row, depth))
        waiting += [(child, depth + 1) for child in reversed(children[row.pk])]
    return found
