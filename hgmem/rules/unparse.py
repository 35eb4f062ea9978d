"""Condition nodes as CEL text again, for showing the parts of a condition to people."""

import json

from hgmem.rules.tree import Call, Const, Has, ListOf, Local, Loop, MapOf, Node, Read, Select, walk
from hgmem.rules.values import dotted

_INFIX = {
    "_||_": ("||", 1),
    "_&&_": ("&&", 2),
    "_==_": ("==", 3),
    "_!=_": ("!=", 3),
    "_<_": ("<", 3),
    "_<=_": ("<=", 3),
    "_>_": (">", 3),
    "_>=_": (">=", 3),
    "@in": ("in", 3),
    "_+_": ("+", 4),
    "_-_": ("-", 4),
    "_*_": ("*", 5),
    "_/_": ("/", 5),
    "_%_": ("%", 5),
}
_PREFIX = {"!_": "!", "-_": "-"}
_GLOBALS = frozenset(
    ("int", "uint", "double", "string", "bytes", "bool", "type", "dyn", "timestamp", "duration")
)


def can_unparse(node: Node) -> bool:
    """Whether ``unparse`` gives the expression back: macros other than all and exists are expanded."""
    return not any(
        (isinstance(part, Loop) and part.kind == "other")
        or (
            isinstance(part, Call)
            and part.function.startswith(("_?", "_[?", "math.@", "@not"))
            and part.function != "_?_:_"
        )
        for part in walk(node)
    )


def unparse(node: Node) -> str:
    """CEL text that means the same as the node; see ``can_unparse``."""
    return _text(node, 0)


def _text(node: Node, outer: int) -> str:  # noqa: PLR0911 (one return a kind)
    match node:
        case Const():
            return _literal(node)
        case Read(root=root, path=path):
            return dotted(root, path)
        case Has(root=root, path=path):
            return f"has({dotted(root, path)})"
        case Local(name=name):
            return name
        case Select(operand=operand, field=field, test=test):
            text = (
                f"{_text(operand, 9)}.{field}"
                if field.isidentifier()
                else f"{_text(operand, 9)}[{json.dumps(field)}]"
            )
            return f"has({text})" if test else text
        case ListOf(items=items):
            return f"[{', '.join(_text(item, 0) for item in items)}]"
        case MapOf(entries=entries):
            return "{" + ", ".join(f"{_text(key, 0)}: {_text(value, 0)}" for key, value in entries) + "}"
        case Loop(kind=kind, var=var, over=over, body=body):
            return f"{_text(over, 9)}.{kind}({var}, {_text(body, 0)})"
        case Call():
            return _call(node, outer)


def _call(node: Call, outer: int) -> str:
    function, args = node.function, node.args
    if function in _INFIX and len(args) == 2:
        sign, level = _INFIX[function]
        text = f"{_text(args[0], level)} {sign} {_text(args[1], level + 1)}"
        return f"({text})" if level < outer else text
    if function in _PREFIX:
        return f"{_PREFIX[function]}{_text(args[0], 8)}"
    if function == "_?_:_":
        return f"({_text(args[0], 1)} ? {_text(args[1], 1)} : {_text(args[2], 0)})"
    if function == "_[_]":
        return f"{_text(args[0], 9)}[{_text(args[1], 0)}]"
    if function in _GLOBALS or not args or "." in function:
        return f"{function}({', '.join(_text(arg, 0) for arg in args)})"
    return f"{_text(args[0], 9)}.{function}({', '.join(_text(arg, 0) for arg in args[1:])})"


def _literal(node: Const) -> str:
    if node.kind == "string":
        return json.dumps(node.value, ensure_ascii=False)
    if node.kind == "bytes":
        return "b" + json.dumps(node.value.decode("latin-1"))
    if node.kind == "uint":
        return f"{node.value}u"
    if node.kind == "bool":
        return "true" if node.value else "false"
    return "null" if node.value is None else str(node.value)
