"""Necessary conditions of a condition: what the index can look up instead of evaluating.

An *atom* is one part of a chain of ``&&`` that tests one field against constants. Where an atom is
certainly false the whole condition is certainly false, whatever else in it would fail to evaluate
(CEL's ``&&`` absorbs errors), so the rule may be skipped without hiding an error.
"""

from dataclasses import dataclass
from typing import Any

from hgmem.rules.regexes import required_literal
from hgmem.rules.tree import Call, Const, Has, ListOf, Local, Loop, Node, Read, conjuncts

_FLIPPED = {"_<_": "_>_", "_>_": "_<_", "_<=_": "_>=_", "_>=_": "_<=_"}
_TEXT_TESTS = {"startsWith": "prefix", "endsWith": "suffix", "contains": "contains", "matches": "regex"}
_BOUNDS = {"_<_": "lt", "_<=_": "le", "_>_": "gt", "_>=_": "ge"}
_CONSTANT_KINDS = frozenset(("null", "bool", "int", "double", "string"))
_TEXT_FUNCTIONS = frozenset(("trim", "lowerAscii", "upperAscii", "size"))
_WEIGHTS = {"_==_": 4, "@in": 3, "matches": 2, "startsWith": 2, "endsWith": 2, "contains": 2}
_WEIGHTS |= dict.fromkeys(_FLIPPED, 2)
_OTHER_WEIGHT = 1
_LOOP_WEIGHT = 3


@dataclass(frozen=True, slots=True)
class Atom:
    """A test of one field. ``kind`` says how ``values`` constrain it:

    eq (the value equals one of them), present (not null), has (the key is there), prefix, suffix,
    contains, gt, ge, lt, le (against the one value), member (the one value is an item or key).
    ``via`` is a text function applied to the field first ("trim", "lowerAscii", "upperAscii", "size") or "".
    """

    read: Read
    kind: str
    values: tuple[Any, ...] = ()
    via: str = ""


def atoms_of(tree: Node) -> list[Atom]:
    """The atoms of a condition, in order."""
    return [atom for part in conjuncts(tree) if (atom := _atom(part)) is not None]


def specificity_of(tree: Node) -> int:
    """How narrow a condition is, as a number for ordering.

    An equality counts 4, membership 3, a text test or comparison 2, ``all`` and ``exists`` what
    their body counts but 3 at most, anything else 1; ``&&`` adds up, ``||`` and a choice count
    their weakest branch, a constant counts 0.
    """
    if isinstance(tree, Const):
        return 0
    if isinstance(tree, Loop) and tree.kind != "other":
        return max(_OTHER_WEIGHT, min(_LOOP_WEIGHT, specificity_of(tree.body)))
    if not isinstance(tree, Call):
        return _OTHER_WEIGHT
    if tree.function == "_?_:_":
        return specificity_of(tree.args[0]) + min(map(specificity_of, tree.args[1:]))
    if tree.function in ("_&&_", "_||_"):
        weights = [specificity_of(part) for part in tree.args]
        return sum(weights) if tree.function == "_&&_" else min(weights)
    return _WEIGHTS.get(tree.function, _OTHER_WEIGHT)


def _atom(node: Node) -> Atom | None:
    if isinstance(node, Has):
        return Atom(Read(node.root, node.path), "has")
    if isinstance(node, Loop):
        return _some_item(node)
    if not isinstance(node, Call):
        return None
    if node.function == "_||_":
        return _either(node)
    if len(node.args) != 2:
        return None
    return _binary(node.function, *node.args)


def _some_item(node: Loop) -> Atom | None:
    """``tags.exists(t, t == "x")`` is ``"x" in tags``."""
    body = node.body
    if node.kind != "exists" or not isinstance(node.over, Read) or not node.over.path:
        return None
    if not isinstance(body, Call) or body.function != "_==_" or len(body.args) != 2:
        return None
    item, constant = body.args
    if (
        isinstance(item, Local)
        and item.name == node.var
        and isinstance(constant, Const)
        and constant.kind == "string"
    ):
        return Atom(node.over, "member", (constant.value,))
    return None


def _either(node: Call) -> Atom | None:
    """``a == 1 || a == 2`` is ``a in [1, 2]``."""
    parts = [_atom(arg) for arg in node.args]
    first = parts[0]
    if first is None or any(part is None or part.kind != "eq" for part in parts):
        return None
    if any(part is not None and (part.read, part.via) != (first.read, first.via) for part in parts):
        return None
    return Atom(first.read, "eq", tuple(v for part in parts if part for v in part.values), first.via)


def _binary(function: str, left: Node, right: Node) -> Atom | None:
    if isinstance(left, Const) and function in ("_==_", "_!=_", *_FLIPPED):
        left, right, function = right, left, _FLIPPED.get(function, function)
    if function == "@in":
        return _membership(left, right)
    read, via = _field(left)
    if read is None or not isinstance(right, Const) or right.kind not in _CONSTANT_KINDS:
        return None
    if function in _TEXT_TESTS:
        return _text_test(read, via, _TEXT_TESTS[function], right.value) if right.kind == "string" else None
    return _comparison(function, read, via, right)


def _comparison(function: str, read: Read, via: str, constant: Const) -> Atom | None:
    if function == "_==_":
        return Atom(read, "eq", (constant.value,), via)
    if function == "_!=_" and constant.kind == "null" and not via:
        return Atom(read, "present")
    if function in _BOUNDS and constant.kind in ("int", "double"):
        return Atom(read, _BOUNDS[function], (constant.value,), via)
    return None


def _text_test(read: Read, via: str, kind: str, text: str) -> Atom | None:
    if via == "size":
        return None
    if kind == "regex":
        literal = required_literal(text)
        if literal is None:
            return None
        kind, text = literal
    return Atom(read, kind, (text,), via) if text else None


def _membership(item: Node, container: Node) -> Atom | None:
    if isinstance(item, Const) and item.kind == "string":
        read, via = _field(container)
        return Atom(read, "member", (item.value,)) if read is not None and not via else None
    read, via = _field(item)
    if read is None or not isinstance(container, ListOf):
        return None
    values = [
        part.value
        for part in container.items
        if isinstance(part, Const) and part.kind not in ("bytes", "uint")
    ]
    return Atom(read, "eq", tuple(values), via) if len(values) == len(container.items) else None


def _field(node: Node) -> tuple[Read | None, str]:
    if isinstance(node, Read):
        return (node, "") if node.path else (None, "")
    if isinstance(node, Call) and node.function in _TEXT_FUNCTIONS and len(node.args) == 1:
        operand = node.args[0]
        if isinstance(operand, Read) and operand.path:
            return operand, node.function
    return None, ""
