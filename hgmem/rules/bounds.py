"""How much work an evaluation could do, estimated before it starts.

The CEL runtime has no budget of its own: five nested loops over small lists, or a chain of
``replace`` that doubles a text, could run for seconds. Conditions without loops and without
text-building functions need no check at all (``Bound.free``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hgmem.rules.limits import MAX_BUILT_CHARS, MAX_EVALUATED_ITEMS, MAX_EVALUATION_WORK
from hgmem.rules.tree import Call, Const, ListOf, Local, Loop, Node, Read, Select, children, walk
from hgmem.rules.values import ConditionError, read_path

_BUILDERS = frozenset(("replace", "join", "format", "strings.quote"))


@dataclass(frozen=True, slots=True)
class Bound:
    """The checks one condition needs."""

    tree: Node
    loops: bool
    builders: int

    @property
    def free(self) -> bool:
        """Whether every evaluation is cheap whatever the context holds."""
        return not self.loops and not self.builders

    def excess(self, variables: Mapping[str, Any], size: int, chars: int) -> str | None:
        """A sentence when the evaluation could do too much, else None."""
        if self.builders and (chars + 100) ** (self.builders + 1) > MAX_BUILT_CHARS:
            return f"the condition could build a text of more than {MAX_BUILT_CHARS} characters"
        if not self.loops:
            return None
        estimate = _Estimate(variables, size, chars)
        items = estimate.items(self.tree)
        if items > MAX_EVALUATED_ITEMS:
            return f"the condition could evaluate more than {MAX_EVALUATED_ITEMS} items"
        if items * estimate.longest(self.tree) > MAX_EVALUATION_WORK:
            return "the condition could read too much text in a loop"
        return None


def bound_of(tree: Node) -> Bound:
    """Look at a condition once, when it is compiled."""
    nodes = list(walk(tree))
    return Bound(
        tree=tree,
        loops=any(isinstance(node, Loop) for node in nodes),
        builders=sum(isinstance(node, Call) and node.function in _BUILDERS for node in nodes),
    )


class _Estimate:
    def __init__(self, variables: Mapping[str, Any], size: int, chars: int) -> None:
        self._variables = variables
        self._size = size
        self._chars = chars

    def items(self, node: Node) -> int:
        """An upper bound on the loop bodies run below this node."""
        if not isinstance(node, Loop):
            return sum(map(self.items, children(node)))
        inner = [part for body in (node.body, *node.rest) for part in walk(body) if isinstance(part, Loop)]
        own_parts = [part for part in inner if _is_stored(node.over) and _is_part_of_item(part.over)]
        others = sum(self.items(part) for part in inner if part not in own_parts)
        # the parts of all items of one stored value are at most all values there are
        return self.items(node.over) + self._length(node.over) * (1 + others) + self._size * len(own_parts)

    def _length(self, over: Node) -> int:
        if isinstance(over, Read):
            value = self._value(over)
            return len(value) if isinstance(value, dict | list) else 0
        if isinstance(over, ListOf):
            return len(over.items)
        return self._size if _is_stored(over) else self._size + self._chars + 100

    def longest(self, tree: Node) -> int:
        """The longest text that a loop body reads again and again from outside the loop."""
        reads = {
            node
            for loop in walk(tree)
            if isinstance(loop, Loop)
            for node in walk(loop.body)
            if isinstance(node, Read)
        }
        return (
            max((len(value) for value in map(self._value, reads) if isinstance(value, str)), default=1) or 1
        )

    def _value(self, read: Read) -> Any:
        try:
            return read_path(self._variables, read.root, read.path)
        except ConditionError:
            return None


def _is_stored(node: Node) -> bool:
    """Whether a node is a part of a value that is already there, not one built on the way."""
    return isinstance(_origin(node), Local | Read)


def _is_part_of_item(node: Node) -> bool:
    """Whether a node is the item of a loop or a part of it."""
    return isinstance(_origin(node), Local)


def _origin(node: Node) -> Node:
    """What a chain of fields and positions starts from."""
    while True:
        match node:
            case Select(operand=operand):
                node = operand
            case Call(function="_[_]", args=(operand, Const())):
                node = operand
            case _:
                return node
