"""Conditions: CEL expressions over the context of a call. The only module that touches CEL.

A missing field reads as null (outside ``has()``), an evaluation error is a value of its own and
never a silent non-match, and every evaluation is bounded. The common subset runs as Python
closures, the rest in the ``cel-expr-python`` runtime; both give the same answers.
"""

import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from hgmem.rules import rewrite
from hgmem.rules.atoms import specificity_of
from hgmem.rules.bounds import bound_of
from hgmem.rules.closures import Closure, compile_closure
from hgmem.rules.context import Context, context_of
from hgmem.rules.errors import EvaluationFailure, RuleError
from hgmem.rules.limits import MAX_BRACKETS, MAX_CONDITION_CHARS, MAX_MATCHED_CHARS
from hgmem.rules.messages import checked_expression
from hgmem.rules.tree import VARIABLES, Const, Has, Node, Read, read_tree, walk
from hgmem.rules.values import (
    ConditionError,
    Unreadable,
    dotted,
    has_path,
    read_path,
    type_name,
    unreadable_part,
)

if TYPE_CHECKING:
    from cel_expr_python import cel

AFTER_CALL_VARIABLES = frozenset(("output", "error", "duration_ms"))
_CACHED_CONDITIONS = 4_096

_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_BRACKETS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[()\[\]{}]")

Outcome = Literal[True, False] | EvaluationFailure


class Expression:
    """One compiled CEL expression. Immutable and safe to share between threads.

    ``tree`` is the checked syntax tree as nodes, ``reads`` the field reads in it.
    """

    def __init__(self, source: str, serialized: bytes, tree: Node) -> None:
        self.source = source
        self.tree = tree
        self.reads: frozenset[Read | Has] = frozenset(
            node for node in walk(tree) if isinstance(node, Read | Has)
        )
        self._serialized = serialized
        self._bound = bound_of(tree)
        self._free = self._bound.free
        self.closure: Closure | None = compile_closure(tree, _linear_match)

    @staticmethod
    def compile(source: str) -> "Expression":
        """Compile a CEL expression.

        Raises:
            RuleError: the expression is wrong, too long or too deep.
        """
        return _expression(source.strip())

    @cached_property
    def read_set(self) -> frozenset[str]:
        """The field paths the expression reads, with their variable: ``input.city``."""
        return frozenset(dotted(node.root, node.path) for node in self.reads)

    @cached_property
    def constants(self) -> tuple[Any, ...]:
        """The literals of the expression, in order."""
        return tuple(
            node.value for node in walk(self.tree) if isinstance(node, Const) and node.kind != "type"
        )

    @cached_property
    def reads_now(self) -> bool:
        """Whether the value depends on the clock."""
        return any(node.root == "now" for node in self.reads)

    @cached_property
    def reads_result(self) -> bool:
        """Whether the value depends on what the call returned."""
        return any(node.root in AFTER_CALL_VARIABLES for node in self.reads)

    @property
    def checked(self) -> Any:
        """The checked syntax tree as ``cel.expr.CheckedExpr``; a fresh message each time."""
        return _checked(self._serialized)

    def value(self, context: Context) -> Any:
        """The value as JSON, or an ``EvaluationFailure``. Never raises and never runs for long."""
        if not self._free:
            excess = self._bound.excess(context.variables, context.size, context.chars)
            if excess is not None:
                return EvaluationFailure(excess)
        if self.closure is None or not context.clean:
            if self._bound.matches and context.chars > MAX_MATCHED_CHARS:
                return EvaluationFailure(f"matches() reads up to {MAX_MATCHED_CHARS} characters here")
            return self.value_in_runtime(context)
        try:
            return self.closure(context.variables)
        except ConditionError as error:
            return EvaluationFailure(str(error))

    def value_in_runtime(self, context: Context) -> Any:
        """The same value from the CEL runtime: the reference the closures are tested against."""
        expression, slots = self._runtime
        data = {f"@{at}": _slot_value(slot, context) for at, slot in enumerate(slots)}
        if self.reads_now:
            data["now"] = context.variables.get("now")
        try:
            result = expression.eval(data=data)
            kind, value = result.type().name(), result.plain_value()
        except Exception as error:  # the binding raises bare RuntimeError for what it cannot convert
            return EvaluationFailure(str(error)[:500])
        if kind == "ERROR":
            return EvaluationFailure(_failure_detail(str(value), data, slots))
        return (
            value
            if _is_json(value)
            else EvaluationFailure(f"the value is a {kind.lower()}, which JSON has not")
        )

    @cached_property
    def _runtime(self) -> "tuple[cel.Expression, list[rewrite.Slot]]":
        checked = _checked(self._serialized)
        slots = rewrite.rewrite(checked.expr)
        return _environment().deserialize(_packed(checked)), slots

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are the source, compiled again."""
        return type(self).compile, (self.source,)


class Condition(Expression):
    """An expression that is a yes-or-no question."""

    @staticmethod
    def compile(source: str) -> "Condition":
        """Compile a CEL expression; an empty one is always true.

        Raises:
            RuleError: the expression is wrong, too long or too deep, or is no yes-or-no question.
        """
        return _condition(source.strip() or "true")

    @property
    def always(self) -> bool:
        """Whether the condition is the constant true."""
        return isinstance(self.tree, Const) and self.tree.value is True

    @property
    def unbounded_closure(self) -> Closure | None:
        """The closure, if it may run on any clean context without a check of the work it could do."""
        return self.closure if self._free else None

    @cached_property
    def specificity(self) -> int:
        """How narrow the condition is; see ``atoms.specificity_of``."""
        return specificity_of(self.tree)

    def evaluate(self, context: Context | Mapping[str, Any]) -> Outcome:
        """True, False or an ``EvaluationFailure``. Never raises and never runs for long.

        ``context`` is a parsed context, or bare variables such as ``{"input": ..., "output": ...}``.
        """
        if not isinstance(context, Context):
            try:
                context = context_of(context)
            except RuleError as error:
                return EvaluationFailure(str(error))
        return _answer(self.value(context))

    def evaluate_in_runtime(self, context: Context) -> Outcome:
        """The same answer from the CEL runtime."""
        return _answer(self.value_in_runtime(context))


def _answer(value: Any) -> Outcome:
    if value is True or value is False or isinstance(value, EvaluationFailure):
        return value
    return EvaluationFailure(f"the condition's value is a {type_name(value)}, neither true nor false")


@lru_cache(maxsize=_CACHED_CONDITIONS)
def _condition(source: str) -> Condition:
    return Condition(source, *_compiled(source, ("BOOL", "DYN")))


@lru_cache(maxsize=_CACHED_CONDITIONS)
def _expression(source: str) -> Expression:
    return Expression(source, *_compiled(source, ()))


def _compiled(source: str, kinds: tuple[str, ...]) -> tuple[bytes, Node]:
    _check_source(source)
    try:
        expression = _environment().compile(source)
        kind = expression.return_type().name()
        serialized = expression.serialize()
    except Exception as error:  # the binding raises bare RuntimeError for every fault
        raise RuleError(_compile_errors(str(error)), field="condition") from None
    if kinds and kind not in kinds:
        raise RuleError(f"must be true or false, but its value is a {kind.lower()}", field="condition")
    try:
        return serialized, read_tree(_checked(serialized).expr)
    except RuleError as error:
        raise error.under("condition") from None


def _is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(part) for key, part in value.items())
    return value is None or isinstance(value, bool | int | float | str)


def _check_source(source: str) -> None:
    if len(source) > MAX_CONDITION_CHARS:
        raise RuleError(f"is longer than {MAX_CONDITION_CHARS} characters", field="condition")
    if not source.isascii():
        try:
            source.encode()
        except UnicodeEncodeError:
            raise RuleError("is not valid Unicode text", field="condition") from None
    if "\0" in source:
        raise RuleError("holds a NUL character", field="condition")
    depth = 0
    for token in _BRACKETS.findall(source):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token, 0)
        if depth > MAX_BRACKETS:
            raise RuleError(f"has brackets nested deeper than {MAX_BRACKETS}", field="condition")


@cache
def _environment() -> "cel.Env":
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_math, ext_optional, ext_strings

    kinds = dict.fromkeys(VARIABLES, cel.Type.DYN) | {"now": cel.Type.TIMESTAMP}
    extensions = [ext_strings.ExtStrings(), ext_optional.ExtOptional(), ext_math.ExtMath()]
    return cel.NewEnv(variables=kinds, extensions=extensions)


def _checked(serialized: bytes) -> Any:
    from google.protobuf.any_pb2 import Any as AnyMessage

    message = checked_expression()()
    AnyMessage.FromString(serialized).Unpack(message)
    return message


def _packed(checked: Any) -> Any:
    from google.protobuf.any_pb2 import Any as AnyMessage

    packed = AnyMessage()
    packed.Pack(checked)
    return packed.SerializeToString()


def _slot_value(slot: rewrite.Slot, context: Context) -> Any:
    kind, root, path = slot
    try:
        if kind == "has":
            return has_path(context.variables, root, path)
        value = read_path(context.variables, root, path)
    except ConditionError as error:
        return Unreadable(str(error))
    if not context.clean:
        fault = unreadable_part(value)
        if fault is not None:
            return Unreadable(f"{dotted(root, path)} holds {fault}")
    return value


def _failure_detail(message: str, data: Mapping[str, Any], slots: list[rewrite.Slot]) -> str:
    """The runtime's message, in the words of the condition."""
    found = re.search(r"'(@\d+)': Unreadable", message)
    if found is not None and isinstance(data.get(found[1]), Unreadable):
        return str(data[found[1]].detail)
    for at in reversed(range(len(slots))):
        message = message.replace(f"@{at}", dotted(slots[at][1], slots[at][2]))
    return message.removeprefix("UNKNOWN: ").removeprefix("INVALID_ARGUMENT: ")[:500]


def _compile_errors(message: str) -> str:
    if "recursion limit" in message:
        return "is nested too deep"
    found = _PLACE.findall(message)
    if not found:
        return message.removeprefix("INVALID_ARGUMENT: ")[:500]
    places = [f"line {line}, column {column}: {detail.strip()}" for line, column, detail in found]
    return "; ".join(places)[:1_000]


@cache
def _matcher() -> "cel.Expression":
    from cel_expr_python import cel

    kinds = {"text": cel.Type.DYN, "pattern": cel.Type.DYN}
    return cel.NewEnv(variables=kinds).compile("text.matches(pattern)")


def _linear_match(text: str, pattern: str) -> bool:
    """RE2 search through the runtime.

    Raises:
        ConditionError: the pattern is no valid regular expression.
    """
    result = _matcher().eval(data={"text": text, "pattern": pattern})
    value = result.value()
    if value is True or value is False:
        return value
    raise ConditionError(str(value).removeprefix("INVALID_ARGUMENT: ")[:200])
