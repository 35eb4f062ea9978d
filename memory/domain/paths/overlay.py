"""Many paths laid over each other: each node once with its paths, each transition once with its count."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

Pair = tuple[int, int]


class Step(NamedTuple):
    """A node at its place in a path; ``node`` is the node that is drawn for it."""

    id: int
    path: int
    node: int


class Overlay(NamedTuple):
    """``paths``: by node, the paths through it. ``transitions``: by pair of nodes, how often walked."""

    paths: Mapping[int, frozenset[int]]
    transitions: Mapping[Pair, int]


def lay_over(steps: Iterable[Step], edges: Iterable[Pair]) -> Overlay:
    """The overlay of the steps (in order within each path) and of the edges between them, as ids of steps.

    A path without any edge is walked in the order of its steps. Edges to a step that is not given are left
    out.
    """
    ordered = list(steps)
    at = {step.id: step for step in ordered}
    through: dict[int, set[int]] = defaultdict(set)
    for step in ordered:
        through[step.node].add(step.path)
    known = [(at[source], at[target]) for source, target in edges if source in at and target in at]
    linked = {source.path for source, _ in known}
    known += [
        (step, after)
        for step, after in pairwise(ordered)
        if step.path == after.path and step.path not in linked
    ]
    walked = Counter((source.node, target.node) for source, target in known)
    return Overlay({node: frozenset(paths) for node, paths in through.items()}, walked)


def keep_nodes(overlay: Overlay, nodes: Iterable[int]) -> Overlay:
    """Only these nodes, and the transitions between them."""
    kept = set(nodes)
    return Overlay(
        {node: paths for node, paths in overlay.paths.items() if node in kept},
        {pair: n for pair, n in overlay.transitions.items() if kept.issuperset(pair)},
    )
