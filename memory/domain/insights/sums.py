"""Sums by key: what the counters have in common that only add numbers up."""

from collections.abc import Iterable
from typing import Any, Self, TypeVar

import msgspec

ANY_PATTERN = 0
"""Stands for every error pattern, and for calls without one."""


class Sums(msgspec.Struct, array_like=True, gc=False):
    """Numbers that tasks are added to and taken out of again."""

    def add(self, other: Self, sign: int = 1) -> None:
        """Add the other one, or with ``sign`` -1 take it away; nothing falls below zero."""
        for name in self.__struct_fields__:
            setattr(self, name, max(0, getattr(self, name) + sign * getattr(other, name)))


Key = TypeVar("Key", bound=tuple[Any, ...])
S = TypeVar("S", bound=Sums)
Line = TypeVar("Line", bound=msgspec.Struct)


def add_lines(known: dict[Key, S], lines: Iterable[tuple[Key, S]], sign: int) -> set[Key]:
    """Add sums by key to (or take them away from) the cells ``known``; the keys that changed."""
    changed: set[Key] = set()
    for key, sums in lines:
        known.setdefault(key, type(sums)()).add(sums, sign)
        changed.add(key)
    return changed


def read_lines(part: Any, line: type[Line]) -> list[Line]:
    """The lines of a contribution; none of what has another form."""
    try:
        return msgspec.convert(part, list[line], strict=False)  # type: ignore[valid-type]
    except msgspec.ValidationError:
        return []
