"""The names of lineages: one for each way in which a path can come to be, so that none can take another's.

A key is ``kind:name``. The name comes last and whole, so no external id can imitate another kind.
"""

from typing import Literal

KeyKind = Literal["task", "success", "path", "template"]

MAX_NAME = 200


def lineage_key(kind: KeyKind, name: str) -> str:
    """``task:`` the walk of a task, ``success:`` its working calls, ``path:`` by hand, ``template:``."""
    return f"{kind}:{name[:MAX_NAME]}"


def part_key(container: str, place: int) -> str:
    """The key of a part: ``task.2:name`` is the second part of ``task:name`` (``place`` counts from 1)."""
    kind, _, name = container.partition(":")
    return f"{kind}.{place}:{name}"


def variant_of(key: str) -> tuple[str, bool]:
    """The kind that a key of a lineage, path or part begins with, and whether it is a part's."""
    kind, *part = key.partition(":")[0].split(".", 1)
    return kind, bool(part)


def path_key(lineage: str, version: int) -> str:
    """What people call a version of a path."""
    return f"{lineage} v{version}"
