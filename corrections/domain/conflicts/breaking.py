"""Calls in which a condition probably fails: one field at a time missing, or of another type."""

from collections.abc import Iterator
from typing import Any

from hgmem.rules.tree import Node, Read, walk

_STRANGE: tuple[Any, ...] = (None, "x", 1, True, [], {})


def broken(call: dict[str, Any], tree: Node) -> Iterator[dict[str, Any]]:
    """The call with one field that the condition reads made null, a text, a number, a bool, a list..."""
    for node in walk(tree):
        if isinstance(node, Read) and node.path and node.root in ("input", "env", "output"):
            for value in _STRANGE:
                yield _with(call, (node.root, *node.path), value)


def _with(owner: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    fields = owner if isinstance(owner, dict) else {}
    return {**fields, path[0]: _with(fields.get(path[0]), path[1:], value)}
