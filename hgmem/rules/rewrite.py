"""Rewrite a checked CEL tree so that a missing field reads as null.

Every field read that starts at a variable becomes an identifier of its own (``input.city`` ->
``@0``), filled by ``slots``: only the fields a rule reads are handed to the runtime, and an
unreadable field (an integer beyond 64 bits, a field of a number) spoils that read alone, so that
``||`` and ``&&`` still absorb it. Other selections become
``bind(v, operand, v == null ? null : v.?field.orValue(null))``.

The messages are only built through the classes of the messages given, so this module needs no
protocol buffer import.
"""

from typing import Any

from hgmem.rules.tree import VARIABLES

_SLOTTED = frozenset(VARIABLES) - {"now"}
"""``now`` stays a variable of its own: only a declared timestamp may be handed a datetime."""

Slot = tuple[str, str, tuple[str, ...]]
"""(kind, root, path); kind is "read" or "has"."""


def rewrite(expr: Any) -> list[Slot]:
    """Rewrite ``expr`` (a ``cel.expr.Expr``) in place; returns the slots ``@0``, ``@1``, ..."""
    rewriter = _Rewriter(expr)
    rewriter.visit(expr, frozenset())
    return rewriter.slots


def rooted_path(expr: Any, local: frozenset[str]) -> tuple[str, tuple[str, ...]] | None:
    """The variable and constant path of a field read, or None for anything else."""
    kind = expr.WhichOneof("expr_kind")
    if kind == "ident_expr":
        name = expr.ident_expr.name
        return (name, ()) if name in _SLOTTED and name not in local else None
    step = _step(expr, kind)
    if step is None:
        return None
    base = rooted_path(step[0], local)
    return None if base is None else (base[0], (*base[1], step[1]))


def _step(expr: Any, kind: str) -> tuple[Any, str] | None:
    if kind == "select_expr":
        return expr.select_expr.operand, expr.select_expr.field
    if kind == "call_expr" and expr.call_expr.function == "_[_]":
        operand, index = expr.call_expr.args
        if index.const_expr.WhichOneof("constant_kind") == "string_value":
            return operand, index.const_expr.string_value
    return None


class _Rewriter:
    def __init__(self, expr: Any) -> None:
        self._expr = type(expr)
        self._next = 1_000_000
        self.slots: list[Slot] = []

    def visit(self, expr: Any, local: frozenset[str]) -> None:
        kind = expr.WhichOneof("expr_kind")
        test = kind == "select_expr" and expr.select_expr.test_only
        found = rooted_path(expr, local)
        if found is not None:
            expr.CopyFrom(self._ident(self._slot(("has" if test else "read", *found))))
            return
        step = _step(expr, kind)
        if step is not None:
            operand, field = self._expr(), step[1]
            operand.CopyFrom(step[0])
            self.visit(operand, local)
            expr.CopyFrom(self._selection(operand, field, test))
            return
        self._visit_parts(expr, kind, local)

    def _visit_parts(self, expr: Any, kind: str, local: frozenset[str]) -> None:
        if kind == "call_expr":
            if expr.call_expr.HasField("target"):
                self.visit(expr.call_expr.target, local)
            for part in expr.call_expr.args:
                self.visit(part, local)
        elif kind == "list_expr":
            for part in expr.list_expr.elements:
                self.visit(part, local)
        elif kind == "struct_expr":
            for entry in expr.struct_expr.entries:
                self.visit(entry.map_key, local)
                self.visit(entry.value, local)
        elif kind == "comprehension_expr":
            loop = expr.comprehension_expr
            inner = local | {loop.iter_var, loop.iter_var2, loop.accu_var}
            self.visit(loop.iter_range, local)
            self.visit(loop.accu_init, local)
            self.visit(loop.loop_condition, inner)
            self.visit(loop.loop_step, inner)
            self.visit(loop.result, local | {loop.accu_var})

    def _slot(self, slot: Slot) -> str:
        if slot not in self.slots:
            self.slots.append(slot)
        return f"@{self.slots.index(slot)}"

    def _id(self) -> int:
        self._next += 1
        return self._next

    def _ident(self, name: str) -> Any:
        expr = self._expr(id=self._id())
        expr.ident_expr.name = name
        return expr

    def _const(self, **value: Any) -> Any:
        expr = self._expr(id=self._id())
        (field,) = value
        setattr(expr.const_expr, field, value[field])
        return expr

    def _call(self, function: str, *args: Any, target: Any = None) -> Any:
        expr = self._expr(id=self._id())
        expr.call_expr.function = function
        if target is not None:
            expr.call_expr.target.CopyFrom(target)
        for arg in args:
            expr.call_expr.args.add().CopyFrom(arg)
        return expr

    def _selection(self, operand: Any, field: str, test: bool) -> Any:
        name = f"@v{self._id()}"
        if test:
            missing, found = self._const(bool_value=False), self._expr(id=self._id())
            found.select_expr.operand.CopyFrom(self._ident(name))
            found.select_expr.field = field
            found.select_expr.test_only = True
        else:
            missing = self._const(null_value=0)
            optional = self._call("_?._", self._ident(name), self._const(string_value=field))
            found = self._call("orValue", self._const(null_value=0), target=optional)
        is_null = self._call("_==_", self._ident(name), self._const(null_value=0))
        return self._bind(name, operand, self._call("_?_:_", is_null, missing, found))

    def _bind(self, name: str, value: Any, body: Any) -> Any:
        """``cel.bind``: a comprehension over nothing whose accumulator is the value."""
        expr = self._expr(id=self._id())
        loop = expr.comprehension_expr
        loop.iter_var, loop.accu_var = "#unused", name
        loop.iter_range.id = self._id()
        loop.iter_range.list_expr.SetInParent()
        loop.accu_init.CopyFrom(value)
        loop.loop_condition.CopyFrom(self._const(bool_value=False))
        loop.loop_step.CopyFrom(self._ident(name))
        loop.result.CopyFrom(body)
        return expr
