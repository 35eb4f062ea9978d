"""Reading JSON values the way conditions read them, and CEL equality over them."""

from collections.abc import Mapping
from typing import Any

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


class ConditionError(Exception):
    """Raised inside one evaluation; it leaves the engine as an ``EvaluationFailure``."""


class Unreadable:
    """Stands for a value that cannot be read; the CEL runtime reports it only where it is used."""

    def __init__(self, detail: str) -> None:
        self.detail = detail


def read_path(variables: Mapping[str, Any], root: str, path: tuple[str, ...]) -> Any:
    """The value at a path; missing, or below something missing or null, is None.

    Raises:
        ConditionError: the path goes through something that has no fields.
    """
    value = variables.get(root)
    for field in path:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ConditionError(no_fields(root, path, value))
        value = value.get(field)
    return value


def has_path(variables: Mapping[str, Any], root: str, path: tuple[str, ...]) -> bool:
    """Whether the key at a path is there, even with a null.

    Raises:
        ConditionError: the path goes through something that has no fields.
    """
    owner = read_path(variables, root, path[:-1])
    if owner is None:
        return False
    if not isinstance(owner, dict):
        raise ConditionError(no_fields(root, path, owner))
    return path[-1] in owner


def no_fields(root: str, path: tuple[str, ...], value: Any) -> str:
    """The sentence for a field read through a value that is no mapping."""
    return f"{dotted(root, path)} cannot be read: a {type_name(value)} has no fields"


def dotted(root: str, path: tuple[str, ...]) -> str:
    """The path as it is written in a condition: ``input.city``, ``env["a-b"]``."""
    return root + "".join(f".{part}" if part.isidentifier() else f'["{part}"]' for part in path)


def type_name(value: Any) -> str:
    """The CEL name of a JSON value's type."""
    if isinstance(value, dict):
        return "map"
    names = {type(None): "null", bool: "bool", int: "int", float: "double", str: "string", list: "list"}
    return names.get(type(value), type(value).__name__)


def equal(left: Any, right: Any) -> bool:
    """CEL equality of JSON values: numbers compare across int and double, types never mix."""
    kind, other = type(left), type(right)
    if kind is other:
        if kind is list:
            return len(left) == len(right) and all(map(equal, left, right))
        if kind is dict:
            return len(left) == len(right) and all(k in right and equal(v, right[k]) for k, v in left.items())
        return bool(left == right)
    if kind is int and other is float:
        return bool(float(left) == right)
    if kind is float and other is int:
        return bool(left == float(right))
    return False


def unreadable_part(value: Any) -> str | None:
    """Why the CEL runtime could not take this value, or None when it can."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if INT64_MIN <= value <= INT64_MAX else "an integer beyond 64 bits"
    if isinstance(value, str):
        return None if is_text(value) else "text with a NUL or invalid Unicode"
    if isinstance(value, dict):
        parts = (unreadable_part(part) for pair in value.items() for part in pair)
        return next(filter(None, parts), None)
    if isinstance(value, list):
        return next(filter(None, map(unreadable_part, value)), None)
    return None


def is_text(value: str) -> bool:
    """Whether the CEL runtime takes a string whole: no NUL (it would cut there), no lone surrogates."""
    if "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
