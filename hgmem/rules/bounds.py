"""How much work an evaluation could do, estimated before it starts.

The CEL runtime has no budget of its own: five nested loops over small lists, or a chain of
``replace`` that doubles a text, could run for seconds. Conditions without loops and without
text-building functions need no check at all (``Bound.free``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hgmem.rules.limits import MAX_BUILT_CHARS, MAX_EVALUATED_ITEMS, MAX_EVALUATION_WORK
from hgmem.rules.tree import Call, Const, ListOf, Local, Loop, Node, Read, Select, children, walk
from hgmem.rules.values import ConditionError, read_path

VALUE_WORK = 20
"""Reading one value of a list or an object costs about as much as so many characters of a text."""
_BUILDERS = frozenset(("replace", "join", "format", "strings.quote"))


@dataclass(frozen=True, slots=True)
class Bound:
    """The checks one condition needs."""

    tree: Node
    loops: bool
    builders: int
    matches: bool

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
        if items * estimate.heaviest(self.tree) > MAX_EVALUATION_WORK:
            return "the condition could read too much text or too many values in a loop"
        return None


def bound_of(tree: Node) -> Bound:
    """Look at a condition once, when it is compiled."""
    nodes = list(walk(tree))
    return Bound(
        tree=tree,
        loops=any(isinstance(node, Loop) for node in nodes),
        matches=any(isinstance(node, Call) and node.function == "matches" for node in nodes),
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

    def heaviest(self, tree: Node) -> int:
        """The most work that one loop body may have with a single value from outside its loop."""
        loops = [node for node in walk(tree) if isinstance(node, Loop)]
        reads = {read for loop in loops for read in _reads_again(loop.body)}
        outside = max((self._weight(self._value(read)) for read in reads), default=1)
        return max([1, outside, *(self._item_weight(loop) for loop in loops)])

    def _item_weight(self, loop: Loop) -> int:
        """The heaviest part of an item of the outer loop that its inner loops read again and again."""
        inner = [node for node in walk(loop.body) if isinstance(node, Loop)]
        if not any(node == Local(loop.var) for part in inner for node in walk(part.body)):
            return 1
        if not isinstance(loop.over, Read):
            return max(self._size * VALUE_WORK, self._chars)
        items = self._value(loop.over)
        if not isinstance(items, list):
            return 1
        paths = {path for part in inner for path in _paths_of(part.body, loop.var)}
        return max((self._weight(_part(item, path)) for path in paths for item in items), default=1)

    def _weight(self, value: Any) -> int:
        if isinstance(value, str):
            return len(value)
        if not isinstance(value, dict | list):
            return 1
        weight, waiting = 0, [value]
        while waiting:
            owner = waiting.pop()
            weight += VALUE_WORK * len(owner)
            for part in owner.values() if isinstance(owner, dict) else owner:
                if isinstance(part, dict | list):
                    waiting.append(part)
                elif isinstance(part, str):
                    weight += len(part)
        return weight

    def _value(self, read: Read) -> Any:
        try:
            return read_path(self._variables, read.root, read.path)
        except ConditionError:
            return None


def _reads_again(body: Node) -> Iterator[Read]:
    """What each run of a body reads; the list of a loop inside it is counted by its items already."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Read):
            yield node
        elif isinstance(node, Loop) and isinstance(node.over, Read):
            waiting += [node.body, *node.rest]
        else:
            waiting += children(node)


def _paths_of(node: Node, var: str) -> set[tuple[str, ...]]:
    """The fields of a loop variable that a node reads; () for the whole item."""
    if node == Local(var):
        return {()}
    path: list[str] = []
    top = node
    while isinstance(top, Select):
        path.append(top.field)
        top = top.operand
    if path and top == Local(var):
        return {tuple(reversed(path))}
    return {found for part in children(node) for found in _paths_of(part, var)}


def _part(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


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
