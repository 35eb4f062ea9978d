"""A rewrite becomes a path only if what it makes may be stored; the sub-paths it leaves whole stay."""

from collections.abc import Iterator

import msgspec

from memory.domain.paths.checking import check_path
from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.proposal import PENDING_REWARD, InvalidRewriteError, Rewrite, apply

CHECKED = ("nodes", "edges", "tags")
"""What a rewrite says. Goal, agent and environment are the old path's, as they were recorded."""


def accept(old: PathDoc, rewrite: Rewrite) -> PathDoc:
    """The path that ``rewrite`` makes of ``old``, checked like a path by hand.

    Raises InvalidRewriteError that names every field that is wrong.
    """
    new = apply(old, rewrite)
    problems = {
        f"new_{error.field}": error.detail for error in check_path(new) if error.field.startswith(CHECKED)
    }
    if problems:
        raise InvalidRewriteError(problems)
    return msgspec.structs.replace(new, parts=tuple(kept_parts(old, new)))


def kept_parts(old: PathDoc, new: PathDoc) -> Iterator[PathDoc]:
    """The parts whose nodes all stay side by side, at their new place. With another node in the place of an
    old one a part is pending, like the whole.
    """
    places = {node.name: place for place, node in enumerate(new.nodes)}
    for part in old.parts:
        at = [places.get(node.name, -1) for node in part.nodes]
        first, last = (at[0], at[-1]) if at else (-1, -1)
        if first < 0 or at != list(range(first, last + 1)):
            continue
        nodes = new.nodes[first : last + 1]
        kept = msgspec.structs.replace(part, nodes=nodes, span=(first, last))
        kept = msgspec.structs.replace(kept, parts=tuple(kept_parts(part, kept)))
        if nodes != part.nodes:
            kept = msgspec.structs.replace(kept, result="pending", reward=PENDING_REWARD)
        yield kept
