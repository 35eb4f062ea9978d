"""The checked CEL syntax tree as small immutable nodes.

``read_tree`` turns a ``cel.expr.Expr`` message (spec: ``cel/expr/syntax.proto``) into nodes that
know what a *field read* is: a chain of constant selections that starts at a variable. Everything
that reasons about conditions (closures, index, conflict analysis) works on these nodes, and none
of it needs the CEL runtime.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hgmem.rules.errors import RuleError
from hgmem.rules.limits import MAX_COMPREHENSION_DEPTH, MAX_CONDITION_DEPTH, MAX_CONDITION_NODES

VARIABLES = ("input", "tool", "task", "env", "history", "now", "output", "error", "duration_ms")
"""The names a condition may use."""


@dataclass(frozen=True, slots=True)
class Const:
    """A literal. ``kind`` is the CEL type: null, bool, int, uint, double, string, bytes, or "type"."""

    value: Any
    kind: str


@dataclass(frozen=True, slots=True)
class Read:
    """A field of a variable, for example ``input.city`` = ``Read("input", ("city",))``."""

    root: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Has:
    """``has(input.city)``: true when the key is there, even with a null."""

    root: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Local:
    """A loop variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """A field of something that is no plain variable path, for example ``input.items[0].name``."""

    operand: "Node"
    field: str
    test: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function; the target of a method call is the first argument."""

    function: str
    args: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list literal."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map literal, as (key, value) pairs."""

    entries: tuple[tuple["Node", "Node"], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A comprehension. ``kind`` is "all", "exists" or "other"; ``body`` is what each item runs."""

    kind: str
    var: str
    over: "Node"
    body: "Node"
    rest: tuple["Node", ...] = ()


_LEAVES = (Const, Read, Has, Local)
Node = Const | Read | Has | Local | Select | Call | ListOf | MapOf | Loop

_CONST_KINDS = {
    "null_value": "null",
    "bool_value": "bool",
    "int64_value": "int",
    "uint64_value": "uint",
    "double_value": "double",
    "string_value": "string",
    "bytes_value": "bytes",
}


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node."""
    match node:
        case Select(operand=operand):
            return (operand,)
        case Call(args=args):
            return args
        case ListOf(items=items):
            return items
        case MapOf(entries=entries):
            return tuple(part for entry in entries for part in entry)
        case Loop(over=over, body=body, rest=rest):
            return (over, body, *rest)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _LEAVES):
            waiting.extend(reversed(children(node)))


def conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a chain of ``&&``, from left to right."""
    if isinstance(node, Call) and node.function == "_&&_":
        for part in node.args:
            yield from conjuncts(part)
    else:
        yield node


def read_tree(expr: Any) -> Node:
    """Read a ``cel.expr.Expr`` message.

    Raises:
        RuleError: the tree is larger, deeper or loops deeper than the limits allow.
    """
    return _Reader().read(expr, 0, frozenset(), 0)


class _Reader:
    def __init__(self) -> None:
        self._nodes = 0

    def read(self, expr: Any, depth: int, local: frozenset[str], loops: int) -> Node:
        self._nodes += 1
        if self._nodes > MAX_CONDITION_NODES:
            raise RuleError(f"the condition has more than {MAX_CONDITION_NODES} parts")
        if depth > MAX_CONDITION_DEPTH:
            raise RuleError(f"the condition is nested deeper than {MAX_CONDITION_DEPTH}")
        kind = expr.WhichOneof("expr_kind")
        return getattr(self, f"_{kind}")(getattr(expr, kind), depth + 1, local, loops)  # type: ignore[no-any-return]

    def _const_expr(self, const: Any, *_: Any) -> Node:
        field = const.WhichOneof("constant_kind")
        value = None if field == "null_value" else getattr(const, field)
        return Const(value, _CONST_KINDS.get(field, field))

    def _ident_expr(self, ident: Any, _depth: int, local: frozenset[str], _loops: int) -> Node:
        if ident.name in local:
            return Local(ident.name)
        return Read(ident.name, ()) if ident.name in VARIABLES else Const(ident.name, "type")

    def _select_expr(self, select: Any, depth: int, local: frozenset[str], loops: int) -> Node:
        operand = self.read(select.operand, depth, local, loops)
        return self._selected(operand, select.field, select.test_only)

    def _selected(self, operand: Node, field: str, test: bool) -> Node:
        if isinstance(operand, Read):
            path = (*operand.path, field)
            return Has(operand.root, path) if test else Read(operand.root, path)
        return Select(operand, field, test)

    def _call_expr(self, call: Any, depth: int, local: frozenset[str], loops: int) -> Node:
        parts = [call.target] if call.HasField("target") else []
        args = tuple(self.read(part, depth, local, loops) for part in [*parts, *call.args])
        if call.function == "_[_]" and isinstance(args[1], Const) and args[1].kind == "string":
            return self._selected(args[0], args[1].value, test=False)
        if call.function == "matches" and not (isinstance(args[-1], Const) and args[-1].kind == "string"):
            raise RuleError("the pattern of matches() must be a text in the condition itself")
        return Call(call.function, args)

    def _list_expr(self, items: Any, depth: int, local: frozenset[str], loops: int) -> Node:
        return ListOf(tuple(self.read(item, depth, local, loops) for item in items.elements))

    def _struct_expr(self, struct: Any, depth: int, local: frozenset[str], loops: int) -> Node:
        if struct.message_name:
            raise RuleError("message literals are not part of the rule language")
        pairs = [
            (self.read(e.map_key, depth, local, loops), self.read(e.value, depth, local, loops))
            for e in struct.entries
        ]
        return MapOf(tuple(pairs))

    def _comprehension_expr(self, loop: Any, depth: int, local: frozenset[str], loops: int) -> Node:
        if loops + 1 > MAX_COMPREHENSION_DEPTH:
            raise RuleError(f"loops are nested deeper than {MAX_COMPREHENSION_DEPTH}")
        over = self.read(loop.iter_range, depth, local, loops)
        inner = local | {loop.iter_var, loop.accu_var} | ({loop.iter_var2} - {""})
        step = self.read(loop.loop_step, depth, inner, loops + 1)
        kind = _loop_kind(loop)
        if kind != "other" and isinstance(step, Call):
            return Loop(kind, loop.iter_var, over, step.args[1])
        outer = local | {loop.accu_var}
        rest = (
            self.read(loop.accu_init, depth, local, loops),
            self.read(loop.loop_condition, depth, inner, loops + 1),
            self.read(loop.result, depth, outer, loops),
        )
        return Loop("other", loop.iter_var, over, step, rest)


def _loop_kind(loop: Any) -> str:
    """Recognise what the ``all`` and ``exists`` macros expand to (CEL spec, "Macros")."""
    guarded = loop.loop_condition.call_expr.function == "@not_strictly_false"
    if not guarded or loop.iter_var2 or loop.accu_init.WhichOneof("expr_kind") != "const_expr":
        return "other"
    start, step = loop.accu_init.const_expr.bool_value, loop.loop_step.call_expr.function
    return {(True, "_&&_"): "all", (False, "_||_"): "exists"}.get((start, step), "other")
