"""The shape of a call's parameters: which are given, of what kind and how large, as a short text.

``{"query": "flights", "limit": 5}`` is ``(limit: 1-10, query: text<100)``.
"""

from typing import Any

from memory.domain.payloads import is_reference

MAX_PARAMETERS = 8
MAX_NAME = 40
MAX_SHAPE = 200
OTHER_SHAPES = "*"
"""Stands for every shape beyond those that are told apart."""
LARGE = "(large)"
STEPS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
TEXT_STEPS = STEPS[1:]


def shape_of(given: dict[str, Any]) -> str:
    """The shape of an input, at most ``MAX_SHAPE`` characters; ``()`` when nothing is given."""
    if is_reference(given):
        return LARGE
    names = sorted(given)
    parts = [f"{name[:MAX_NAME]}: {kind_of(given[name])}" for name in names[:MAX_PARAMETERS]]
    if len(names) > MAX_PARAMETERS:
        parts.append(f"and {len(names) - MAX_PARAMETERS} more")
    shape = f"({', '.join(parts)})".replace("\0", "\ufffd")
    return shape if len(shape) <= MAX_SHAPE else f"{shape[: MAX_SHAPE - 2]}…)"


def kind_of(value: Any) -> str:
    """The kind of a value and its size class."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, str):
        return f"text{_below(len(value))}" if value else "empty text"
    if isinstance(value, list):
        return f"list of {_number(len(value))}"
    return "large" if is_reference(value) else "object"


def _number(value: float) -> str:
    """The decade: ``0``, ``1-10``, ``11-100`` ...; negative ones and fractions by their size too."""
    if value < 0:
        return f"-({_number(-value)})"
    if value == 0:
        return "0"
    if value < 1:
        return "<1"
    lowest = 1
    for step in STEPS:
        if value <= step:
            return f"{lowest}-{step}"
        lowest = step + 1
    return f">{STEPS[-1]}"


def _below(size: int) -> str:
    """``<100`` and so on: the first step above the size of a text."""
    return next((f"<{step}" for step in TEXT_STEPS if size < step), f">={TEXT_STEPS[-1]}")
