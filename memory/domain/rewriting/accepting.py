"""A rewrite becomes a path only if what it makes may be stored."""

from memory.domain.paths.checking import check_path
from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, apply

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
    return new
