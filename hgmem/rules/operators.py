"""The CEL operators and functions the closures cover, over clean JSON values.

Each raises ``ConditionError`` where CEL has no overload. Spec: github.com/google/cel-spec,
"List of Standard Definitions", and the strings extension of cel-cpp.
"""

from collections.abc import Callable
from typing import Any

from hgmem.rules.values import INT64_MAX, INT64_MIN, ConditionError, equal, type_name

_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_TO_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space, which ``trim`` takes away; ``str.strip`` takes four control characters more."""

_ORDERED = frozenset((int, float, str, bool))


def _no_overload(name: str, *values: Any) -> ConditionError:
    return ConditionError(f"{name} does not take {', '.join(map(type_name, values))}")


def _comparable(name: str, left: Any, right: Any) -> tuple[Any, Any]:
    kind, other = left.__class__, right.__class__
    if kind is other and kind in _ORDERED:
        return left, right
    if kind is int and other is float:
        return float(left), right
    if kind is float and other is int:
        return left, float(right)
    raise _no_overload(name, left, right)


def less(left: Any, right: Any) -> bool:
    """``<`` over numbers, texts and booleans."""
    left, right = _comparable("<", left, right)
    return bool(left < right)


def at_most(left: Any, right: Any) -> bool:
    """``<=`` over numbers, texts and booleans."""
    left, right = _comparable("<=", left, right)
    return bool(left <= right)


def greater(left: Any, right: Any) -> bool:
    """``>`` over numbers, texts and booleans."""
    left, right = _comparable(">", left, right)
    return bool(left > right)


def at_least(left: Any, right: Any) -> bool:
    """``>=`` over numbers, texts and booleans."""
    left, right = _comparable(">=", left, right)
    return bool(left >= right)


def contained(item: Any, container: Any) -> bool:
    """``item in container`` for a list or the keys of a map."""
    if container.__class__ is list:
        return any(equal(item, part) for part in container)
    if container.__class__ is dict:
        if item.__class__ is str:
            return item in container
        if item.__class__ in (bool, int, float):
            return False
    raise _no_overload("in", item, container)


def negation(value: Any) -> bool:
    """``!value``."""
    if value.__class__ is not bool:
        raise _no_overload("!", value)
    return not value


def size(value: Any) -> int:
    """Code points of a text, items of a list, entries of a map."""
    if value.__class__ in (str, list, dict):
        return len(value)
    raise _no_overload("size()", value)


def _text_function(name: str, function: Callable[[str], Any]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if value.__class__ is not str:
            raise _no_overload(f"{name}()", value)
        return function(value)

    return call


def _text_test(name: str, function: Callable[[str, str], Any]) -> Callable[[Any, Any], Any]:
    def call(value: Any, part: Any) -> Any:
        if value.__class__ is not str or part.__class__ is not str:
            raise _no_overload(f"{name}()", value, part)
        return function(value, part)

    return call


def _arithmetic(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def call(left: Any, right: Any) -> Any:
        kind = left.__class__
        if kind is right.__class__:
            if kind is float:
                return function(left, right)
            if kind is int:
                result = function(left, right)
                if INT64_MIN <= result <= INT64_MAX:
                    return result
                raise ConditionError(f"{name} goes beyond 64 bits")
        raise _no_overload(name, left, right)

    return call


_plus_numbers = _arithmetic("+", lambda left, right: left + right)


def plus(left: Any, right: Any) -> Any:
    """``+`` over two integers, doubles, texts or lists."""
    if left.__class__ is right.__class__ and left.__class__ in (str, list):
        return left + right
    return _plus_numbers(left, right)


UNARY: dict[str, Callable[[Any], Any]] = {
    "!_": negation,
    "size": size,
    "trim": _text_function("trim", lambda text: text.strip(_WHITE_SPACE)),
    "lowerAscii": _text_function("lowerAscii", lambda text: text.translate(_TO_LOWER)),
    "upperAscii": _text_function("upperAscii", lambda text: text.translate(_TO_UPPER)),
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "_<_": less,
    "_<=_": at_most,
    "_>_": greater,
    "_>=_": at_least,
    "_+_": plus,
    "_-_": _arithmetic("-", lambda left, right: left - right),
    "_*_": _arithmetic("*", lambda left, right: left * right),
    "startsWith": _text_test("startsWith", str.startswith),
    "endsWith": _text_test("endsWith", str.endswith),
    "contains": _text_test("contains", lambda text, part: part in text),
}
