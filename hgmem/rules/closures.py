"""Conditions as Python closures: the common subset of CEL, several times faster than the runtime.

``compile_closure`` returns None for anything it does not cover; the caller then uses the CEL
runtime. Closures assume a *clean* context (see ``context.Context.clean``) and raise
``ConditionError`` where CEL has an error value. ``tests/hgmem/rules/test_closures.py`` proves them
equal to the runtime.
"""

from collections.abc import Callable
from typing import Any

from hgmem.rules import operators
from hgmem.rules.limits import MAX_MATCHED_CHARS, MAX_PATTERN_TEXT
from hgmem.rules.regexes import simple_pattern
from hgmem.rules.tree import Call, Const, Has, ListOf, Local, Loop, Node, Read, Select, conjuncts
from hgmem.rules.values import ConditionError, equal, has_path, no_fields, read_path, type_name

Frame = dict[str, Any]
Closure = Callable[[Frame], Any]
LinearMatch = Callable[[str, str], bool]

_PLAIN_CONSTANTS = frozenset(("null", "bool", "int", "double", "string"))


class _UnsupportedError(Exception):
    """The tree needs the CEL runtime."""


def compile_closure(tree: Node, linear_match: LinearMatch) -> Closure | None:
    """A function from variables to the condition's value, or None outside the subset.

    ``linear_match(text, pattern)`` searches with a linear-time engine.
    """
    try:
        return _Compiler(linear_match).closure(tree)
    except _UnsupportedError:
        return None


class _Compiler:
    def __init__(self, linear_match: LinearMatch) -> None:
        self._linear_match = linear_match

    def closure(self, node: Node) -> Closure:  # noqa: PLR0911 (one return a kind)
        match node:
            case Const(value=value, kind=kind) if kind in _PLAIN_CONSTANTS:
                return lambda frame: value
            case Read(root=root, path=path) if root != "now":
                return reader(root, path)
            case Has(root=root, path=path):
                return lambda frame: has_path(frame, root, path)
            case Local(name=name) if not name.startswith("@"):
                return lambda frame: frame[name]
            case Select():
                return self._select(node)
            case ListOf(items=items):
                parts = tuple(map(self.closure, items))
                return lambda frame: [part(frame) for part in parts]
            case Loop(kind="all" | "exists"):
                return self._loop(node)
            case Call():
                return self._call(node)
        raise _UnsupportedError

    def _select(self, node: Select) -> Closure:
        operand, field, test = self.closure(node.operand), node.field, node.test

        def select(frame: Frame) -> Any:
            owner = operand(frame)
            if owner is None:
                return False if test else None
            if owner.__class__ is not dict:
                raise ConditionError(f"field {field!r} cannot be read: a {type_name(owner)} has no fields")
            return field in owner if test else owner.get(field)

        return select

    def _loop(self, node: Loop) -> Closure:
        over, body, var, absorbing = (
            self.closure(node.over),
            self.closure(node.body),
            node.var,
            node.kind == "exists",
        )

        def loop(frame: Frame) -> Any:
            items = over(frame)
            if items.__class__ is not list and items.__class__ is not dict:
                raise ConditionError(f"a {type_name(items)} has no items to loop over")
            inner = dict(frame)
            failure = None
            for item in items:
                inner[var] = item
                try:
                    value = body(inner)
                except ConditionError as error:
                    failure = error
                    continue
                if value is absorbing:
                    return absorbing
                if value is not (not absorbing):
                    failure = _not_bool(value)
            if failure is not None:
                raise failure
            return not absorbing

        return loop

    def _call(self, node: Call) -> Closure:  # noqa: PLR0911 (one return a kind)
        function, args = node.function, node.args
        if function == "_&&_":
            return _absorbing(tuple(map(self.closure, conjuncts(node))), absorbing=False)
        if function == "_||_":
            return _absorbing(tuple(map(self.closure, args)), absorbing=True)
        if function in ("_==_", "_!=_"):
            return self._equality(args[0], args[1], wanted=function == "_==_")
        if function == "@in":
            return self._membership(args[0], args[1])
        if function == "matches" and len(args) == 2:
            return self._matches(args[0], args[1])
        if function == "_?_:_":
            return self._choice(*map(self.closure, args))
        if function == "_[_]":
            return self._index(args[0], args[1])
        unary = operators.UNARY.get(function)
        if unary is not None and len(args) == 1:
            return _apply1(unary, self.closure(args[0]))
        binary = operators.BINARY.get(function)
        if binary is not None and len(args) == 2:
            return _apply2(binary, self.closure(args[0]), self.closure(args[1]))
        raise _UnsupportedError

    def _equality(self, left: Node, right: Node, *, wanted: bool) -> Closure:
        if isinstance(left, Const):
            left, right = right, left
        get = self.closure(left)
        if isinstance(right, Const) and right.kind in _PLAIN_CONSTANTS:
            return _equals_constant(get, right.value, wanted=wanted)
        other = self.closure(right)
        return lambda frame: equal(get(frame), other(frame)) is wanted

    def _membership(self, item: Node, container: Node) -> Closure:
        get = self.closure(item)
        if isinstance(container, ListOf) and all(_is_text(part) for part in container.items):
            texts = frozenset(part.value for part in container.items if isinstance(part, Const))

            def one_of(frame: Frame) -> bool:
                value = get(frame)
                return value.__class__ is str and value in texts

            return one_of
        return _apply2(operators.contained, get, self.closure(container))

    def _matches(self, text: Node, pattern: Node) -> Closure:
        if not (isinstance(pattern, Const) and pattern.kind == "string"):
            raise _UnsupportedError
        get, source, linear = self.closure(text), pattern.value, self._linear_match
        compiled = simple_pattern(source)
        search = compiled.search if compiled is not None else None

        def matches(frame: Frame) -> bool:
            value = get(frame)
            if value.__class__ is not str:
                raise ConditionError(f"matches() needs text, not a {type_name(value)}")
            if len(value) > MAX_MATCHED_CHARS:
                raise ConditionError(f"matches() reads texts of up to {MAX_MATCHED_CHARS} characters")
            if search is not None and len(value) <= MAX_PATTERN_TEXT:
                return search(value) is not None
            return linear(value, source)

        return matches

    def _choice(self, test: Closure, then: Closure, otherwise: Closure) -> Closure:
        def choose(frame: Frame) -> Any:
            value = test(frame)
            if value is True:
                return then(frame)
            if value is False:
                return otherwise(frame)
            raise _not_bool(value)

        return choose

    def _index(self, operand: Node, index: Node) -> Closure:
        if not (isinstance(index, Const) and index.kind == "int"):
            raise _UnsupportedError
        get, at = self.closure(operand), index.value

        def item(frame: Frame) -> Any:
            items = get(frame)
            if items.__class__ is not list:
                raise ConditionError(f"a {type_name(items)} has no item {at}")
            if not 0 <= at < len(items):
                raise ConditionError(f"item {at} is outside a list of {len(items)}")
            return items[at]

        return item


def reader(root: str, path: tuple[str, ...]) -> Closure:
    """A closure that reads a field path; what is missing is None."""
    if not path:
        return lambda frame: frame.get(root)
    if len(path) > 1:
        return lambda frame: read_path(frame, root, path)
    (field,) = path

    def read(frame: Frame) -> Any:
        owner = frame.get(root)
        if owner.__class__ is dict:
            return owner.get(field)
        if owner is None:
            return None
        raise ConditionError(no_fields(root, path, owner))

    return read


def _absorbing(parts: tuple[Closure, ...], *, absorbing: bool) -> Closure:
    """``&&`` (absorbing False) and ``||`` (absorbing True): one absorbing value beats any error."""

    def combine(frame: Frame) -> Any:
        failure = None
        for part in parts:
            try:
                value = part(frame)
            except ConditionError as error:
                failure = error
                continue
            if value is absorbing:
                return absorbing
            if value is not (not absorbing):
                failure = _not_bool(value)
        if failure is not None:
            raise failure
        return not absorbing

    return combine


def _equals_constant(get: Closure, constant: Any, *, wanted: bool) -> Closure:
    if constant is None or isinstance(constant, bool):
        return lambda frame: (get(frame) is constant) is wanted
    if isinstance(constant, str):
        return lambda frame: (get(frame) == constant) is wanted
    return lambda frame: equal(get(frame), constant) is wanted


def _apply1(function: Callable[[Any], Any], get: Closure) -> Closure:
    return lambda frame: function(get(frame))


def _apply2(function: Callable[[Any, Any], Any], left: Closure, right: Closure) -> Closure:
    return lambda frame: function(left(frame), right(frame))


def _is_text(node: Node) -> bool:
    return isinstance(node, Const) and node.kind == "string"


def _not_bool(value: Any) -> ConditionError:
    return ConditionError(f"a {type_name(value)} is neither true nor false")
