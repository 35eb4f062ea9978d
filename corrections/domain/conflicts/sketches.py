"""A call sketched from what conditions ask of their fields: a guess that often holds, and costs no solver."""

from collections.abc import Mapping
from typing import Any

from corrections.domain.conflicts.outlines import Field, Outline
from corrections.domain.conflicts.samples import sample_of
from hgmem.rules.tree import Read


def sketched(outline: Outline) -> dict[str, Any]:
    """A context in which each field looks as asked; the engine has to say whether it serves."""
    document: dict[str, Any] = {"input": {}}
    by_field: dict[Read, dict[str, Field]] = {}
    for (read, via), tests in outline.items():
        by_field.setdefault(read, {})[via] = tests
    for read, some in by_field.items():
        value = _value(some)
        if value is not None:
            _put(document, (read.root, *read.path), value)
    return document


def _value(some: Mapping[str, Field]) -> Any:
    tests = next((some[via] for via in ("", "trim", "lowerAscii", "upperAscii") if via in some), Field())
    if tests.values is not None:
        fitting = [value for kind, value in sorted(tests.values, key=repr) if tests.allows(kind, value)]
        return _plain(fitting[0]) if fitting else None
    if tests.members:
        return list(tests.members)
    if tests.is_number:
        return _number(tests)
    text = _text(tests)
    if "size" in some:
        wanted = _number(some["size"])
        text += "x" * max(0, int(wanted) - len(text)) if isinstance(wanted, int) and wanted < 5_000 else ""
        return text
    return text or ("x" if tests.present else None)


def _text(tests: Field) -> str:
    prefix = max(tests.prefixes, key=len, default="")
    suffix = max(tests.suffixes, key=len, default="")
    samples = [sample_of(pattern) for pattern in tests.patterns]
    if len(samples) == 1 and not (prefix or suffix):
        return samples[0]
    parts = [part for part in (*tests.parts, *samples) if part not in prefix + suffix]
    return " ".join([prefix, *parts])[not prefix :] + suffix if parts else prefix + suffix


def _number(tests: Field) -> int | float:
    low = tests.low[0] if tests.low else None
    high = tests.high[0] if tests.high else None
    if low is not None and high is not None:
        middle = (low + high) / 2
        whole = int(low) + 1
        return whole if low < whole < high else middle
    if low is not None:
        return int(low) + 1
    return int(high) - 1 if high is not None else 0


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _put(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    owner = document
    for step in path[:-1]:
        inner = owner.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        owner = inner
    owner.setdefault(path[-1], value)
