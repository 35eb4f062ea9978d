"""The difference between two rule documents, field by field, as rows for a page or the API."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["added", "removed", "changed"]
ORDER = (
    "name", "description", "applies_to", "condition", "action_type", "action_detail", "priority",
    "valid_from", "valid_until", "ruled_over",
)  # fmt: skip
"""The order in which people read a rule; other fields follow by name."""

ABSENT = object()


@dataclass(frozen=True)
class Change:
    """One field that differs. ``old`` is None for an added one, ``new`` for a removed one."""

    field: str
    kind: Kind
    old: Any
    new: Any

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"field": self.field, "kind": self.kind, "old": self.old, "new": self.new}


def diff_documents(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Every leaf that differs, in reading order, with dotted paths (``action_detail.operations.0.value``).

    A field that is missing and one that is null are the same: documents written before a field existed do
    not differ from later ones in it.
    """
    changes: list[Change] = []
    for name in in_reading_order(old.keys() | new.keys()):
        changes += _compare(name, old.get(name), new.get(name))
    return changes


def in_reading_order(names: Iterable[str]) -> list[str]:
    """Fields of a rule as people read them."""
    return sorted(names, key=_reading_order)


def _reading_order(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _compare(path: str, old: Any, new: Any) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _compare(f"{path}.{name}", old.get(name), new.get(name))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _compare_lists(path, old, new)
    elif type(old) is not type(new) or old != new:
        yield _change(path, old, new)


def _compare_lists(path: str, old: list[Any], new: list[Any]) -> Iterator[Change]:
    for index in range(max(len(old), len(new))):
        before = old[index] if index < len(old) else ABSENT
        after = new[index] if index < len(new) else ABSENT
        if before is ABSENT or after is ABSENT:
            yield _change(f"{path}.{index}", before, after)
        else:
            yield from _compare(f"{path}.{index}", before, after)


def _change(path: str, old: Any, new: Any) -> Change:
    if old is None or old is ABSENT:
        return Change(path, "added", None, new)
    if new is None or new is ABSENT:
        return Change(path, "removed", old, None)
    return Change(path, "changed", old, new)
