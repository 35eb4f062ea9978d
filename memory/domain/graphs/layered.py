"""Layers for a path: every edge runs from one layer to a later one, with few crossings.

The method of Sugiyama, Tagawa and Toda (1981): break the cycles, layer by longest path, give an edge that
crosses several layers a bend in each of them, order each layer by barycentres, then place.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

SWEEPS = 6
BEND_WIDTH = 0.5
"""How much of a column a bend needs; a node needs a whole one."""
BENDS_PER_NODE = 3
"""With more bends than this in all, long edges are drawn straight: they would cost more than they show."""

Edge = tuple[str, str]


@dataclass(frozen=True)
class Place:
    """On the grid: ``column`` may lie between two, ``layer`` counts from 0 in the flow's direction."""

    column: float
    layer: int


@dataclass(frozen=True)
class Layered:
    """``places`` by node. ``bends`` by the edge's number: where it passes, from its source to its target.

    ``backward`` are the numbers of the edges that run against the flow.
    """

    places: Mapping[str, Place]
    bends: Mapping[int, tuple[Place, ...]]
    backward: frozenset[int]
    layers: int


def layered(nodes: Sequence[str], edges: Sequence[Edge]) -> Layered:
    """Place the nodes of a path. The same input always gives the same places.

    ``nodes`` are unique names in the order in which they were walked; the order decides which edge of a cycle
    counts as backward and which branch stands first. Edges may repeat; one from a node to itself needs no
    place. Raises ValueError for an edge of an unknown node.
    """
    position = {name: number for number, name in enumerate(nodes)}
    unknown = [end for edge in edges for end in edge if end not in position]
    if unknown:
        raise ValueError(f"The edge of {unknown[0]!r} refers to no node of the path.")
    backward = _backward(nodes, edges, position)
    forward = [(edge[::-1] if number in backward else edge) for number, edge in enumerate(edges)]
    layer_of = _layers(nodes, forward)
    grid = _Grid(nodes, forward, layer_of)
    grid.order()
    column = grid.columns()
    places = {name: Place(column[name], layer_of[name]) for name in nodes}
    bends = {}
    for number, chain in grid.bends.items():
        passed = [Place(column[bend], grid.layer_of[bend]) for bend in chain]
        bends[number] = tuple(reversed(passed) if number in backward else passed)
    return Layered(places, bends, backward, 1 + max(layer_of.values(), default=-1))


def _backward(nodes: Sequence[str], edges: Sequence[Edge], position: Mapping[str, int]) -> frozenset[int]:
    """Edges of a cycle that lead to an earlier node. Without them no cycle is left."""
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    component = {
        name: number for number, names in enumerate(nx.strongly_connected_components(graph)) for name in names
    }
    return frozenset(
        number
        for number, (source, target) in enumerate(edges)
        if component[source] == component[target] and position[target] < position[source]
    )


def _layers(nodes: Sequence[str], forward: Sequence[Edge]) -> dict[str, int]:
    """The length of the longest way to each node."""
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((source, target) for source, target in forward if source != target)
    return {name: layer for layer, names in enumerate(nx.topological_generations(graph)) for name in names}


class _Grid:
    """The layers with their nodes and bends, while they are being ordered and placed."""

    def __init__(self, nodes: Sequence[str], forward: Sequence[Edge], layer_of: Mapping[str, int]) -> None:
        self.layer_of = dict(layer_of)
        self.bends: dict[int, list[str]] = {}
        self.above: dict[str, list[str]] = defaultdict(list)
        self.below: dict[str, list[str]] = defaultdict(list)
        spans = [layer_of[target] - layer_of[source] for source, target in forward]
        too_many = sum(max(0, span - 1) for span in spans) > BENDS_PER_NODE * max(100, len(nodes))
        for number, (source, target) in enumerate(forward):
            if spans[number] == 1:
                self._link(source, target)
            elif spans[number] > 1 and not too_many:
                self._bend(number, source, target)
        self.rows: list[list[str]] = [[] for _ in range(1 + max(self.layer_of.values(), default=-1))]
        for name, layer in self.layer_of.items():
            self.rows[layer].append(name)

    def _link(self, upper: str, lower: str) -> None:
        self.below[upper].append(lower)
        self.above[lower].append(upper)

    def _bend(self, number: int, source: str, target: str) -> None:
        first = self.layer_of[source] + 1
        chain = [f"\0{number}\0{layer}" for layer in range(first, self.layer_of[target])]
        for layer, bend in enumerate(chain, first):
            self.layer_of[bend] = layer
        for upper, lower in zip([source, *chain], [*chain, target], strict=True):
            self._link(upper, lower)
        self.bends[number] = chain

    def order(self) -> None:
        """Sort the layers by barycentres, down and up in turn; the order with the fewest crossings stays."""
        best, fewest = [list(row) for row in self.rows], self._crossings()
        place = {name: float(number) for row in self.rows for number, name in enumerate(row)}
        for sweep in range(SWEEPS):
            if not fewest:
                break
            down = sweep % 2 == 0
            for row in self.rows[1:] if down else reversed(self.rows[:-1]):
                _sort(row, self.above if down else self.below, place)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def _crossings(self) -> int:
        """Pairs of edges between neighbouring layers that cross."""
        total = 0
        for upper, lower in pairwise(self.rows):
            place = {name: number for number, name in enumerate(lower)}
            seen: list[int] = []
            for name in upper:
                ends = sorted(place[other] for other in self.below[name])
                total += sum(len(seen) - bisect_right(seen, end) for end in ends)
                seen = sorted(seen + ends)
        return total

    def columns(self) -> dict[str, float]:
        """A column for every node and bend: near its neighbours, never nearer to the next than it needs."""
        column = {name: float(place) for row in self.rows for place, name in enumerate(row)}
        for sweep in range(SWEEPS + 1):  # the last one goes down
            down, before = sweep % 2 == 0, dict(column)
            neighbours = self.above if down else self.below
            for row in self.rows if down else reversed(self.rows):
                wanted = [_wanted(name, neighbours[name], column) for name in row]
                column.update(zip(row, _apart(wanted, [_width(name) for name in row]), strict=True))
            if sweep and column == before:
                break
        left = min(column.values(), default=0.0)
        return {name: round(place - left, 2) for name, place in column.items()}


def _sort(row: list[str], neighbours: Mapping[str, list[str]], place: dict[str, float]) -> None:
    """Order one layer by where its neighbours stand; ``place`` is kept up to date."""
    centre = {}
    for name in row:
        near = [place[other] for other in neighbours.get(name, ())]
        centre[name] = sum(near) / len(near) if near else place[name]
    row.sort(key=centre.__getitem__)
    place.update((name, float(number)) for number, name in enumerate(row))


def _width(name: str) -> float:
    return BEND_WIDTH if name.startswith("\0") else 1.0


def _wanted(name: str, neighbours: Sequence[str], column: Mapping[str, float]) -> float:
    """The middle of the nodes it is linked with; bends count only where there is no node."""
    near = [other for other in neighbours if not other.startswith("\0")] or neighbours
    ordered = sorted(column[other] for other in near)
    if not ordered:
        return column[name]
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The places nearest to the wanted ones (least squares) that keep the order and the distances.

    Pool adjacent violators on what is wanted less the room that the earlier ones take. What is wide counts
    a thousand times as much as a bend: the branch moves aside, the nodes stay in line.
    """
    if len(widths) < 2:
        return list(wanted)
    offsets = [0.0]
    for one, other in pairwise(widths):
        offsets.append(offsets[-1] + (one + other) / 2)
    blocks: list[tuple[float, float, int]] = []  # weighted sum, weight, how many
    for place, offset, width in zip(wanted, offsets, widths, strict=True):
        weight = 1000.0 if width > BEND_WIDTH else 1.0
        total, count = weight * (place - offset), 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / weight:
            before = blocks.pop()
            total, weight, count = total + before[0], weight + before[1], count + before[2]
        blocks.append((total, weight, count))
    centres = [total / weight for total, weight, count in blocks for _ in range(count)]
    return [centre + offset for centre, offset in zip(centres, offsets, strict=True)]
