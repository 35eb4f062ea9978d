"""A quick picture of a graph without a direction: what belongs together lies together.

Communities (Louvain) are laid on a spiral, then all nodes repel each other and edges pull (Fruchterman and
Reingold 1991), as operations on whole matrices: a thousand nodes take a quarter of a second.
"""

import math
from collections.abc import Mapping, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

ROUNDS = 50
FAR = 0.9
"""Places beyond this share of all, from the middle, are drawn in."""
GOLDEN = math.pi * (3 - math.sqrt(5))
Link = tuple[str, str, float]
Floats = NDArray[np.float32]


def spread(
    nodes: Sequence[str], edges: Sequence[tuple[str, str, float]]
) -> Mapping[str, tuple[float, float]]:
    """A place for every node, about one unit from its neighbours, around (0, 0). Deterministic.

    ``edges`` are (source, target, weight > 0) between the given nodes; direction does not matter here.
    Memory and time grow with the square of the nodes: meant for a thousand.
    """
    if not nodes:
        return {}
    number = {name: place for place, name in enumerate(nodes)}
    links = [(number[one], number[other], weight) for one, other, weight in edges if one != other]
    places = _settle(_start(len(nodes), links), links)
    return {
        name: (round(float(x), 3), round(float(y), 3)) for name, (x, y) in zip(nodes, places, strict=True)
    }


def _start(count: int, links: Sequence[tuple[int, int, float]]) -> Floats:
    """Communities one after another along a sunflower's spiral, so that each starts as a patch."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from(links)
    found = nx.community.louvain_communities(graph, seed=1, max_level=1)
    groups = sorted((sorted(group) for group in found), key=lambda group: (-len(group), group[0]))
    ordered = [node for group in groups for node in group]
    places = np.zeros((count, 2), dtype=np.float32)
    for step, node in enumerate(ordered):
        radius, angle = math.sqrt(step + 0.5), step * GOLDEN
        places[node] = radius * math.cos(angle), radius * math.sin(angle)
    return places


def _settle(places: Floats, links: Sequence[tuple[int, int, float]]) -> Floats:
    """Repulsion 1 / distance between all, attraction distance² along edges, cooling linearly."""
    count = len(places)
    sources = np.array([one for one, _, _ in links], dtype=np.intp)
    targets = np.array([other for _, other, _ in links], dtype=np.intp)
    pulls = np.array([[1 + math.log(max(weight, 1.0))] for _, _, weight in links], dtype=np.float32)
    near, other = np.empty((count, count), np.float32), np.empty((count, count), np.float32)
    for turn in range(ROUNDS if count > 1 else 0):
        for axis, room in enumerate((near, other)):
            np.subtract.outer(places[:, axis], places[:, axis], out=room)
            np.square(room, out=room)
        near += other
        np.maximum(near, 0.01, out=near)
        np.reciprocal(near, out=near)
        force = places * near.sum(axis=1)[:, None] - _times(near, places)
        force -= 0.06 * places  # keeps parts without a link from drifting away
        if len(links):
            along = places[targets] - places[sources]
            pull = along * np.sqrt(np.einsum("ij,ij->i", along, along))[:, None] * pulls * 0.25
            np.add.at(force, sources, pull)
            np.add.at(force, targets, -pull)
        length = np.sqrt(np.einsum("ij,ij->i", force, force))[:, None]
        step = 0.12 * math.sqrt(count) * (1 - turn / ROUNDS)
        places = places + force / np.maximum(length, 1e-6) * np.minimum(length, step)
    centred: Floats = (places - places.mean(axis=0)).astype(np.float32)
    return _drawn_in(centred)


def _drawn_in(places: Floats) -> Floats:
    """What drifted far away comes nearer, in the same direction and order: the rest is drawn the larger."""
    radius = np.sqrt(np.einsum("ij,ij->i", places, places))
    edge = max(float(np.quantile(radius, FAR)), 1e-6)
    beyond = np.maximum(radius / edge, 1.0)
    nearer: Floats = (places * ((1 + np.log(beyond) / 2) / beyond)[:, None]).astype(np.float32)
    return nearer


def _times(matrix: Floats, places: Floats) -> Floats:
    """Matrix times places. Not with ``@``: on a busy machine a BLAS's threads wait for each other."""
    product: Floats = np.stack(
        [np.einsum("ij,j->i", matrix, places[:, axis].copy()) for axis in (0, 1)], axis=1
    )
    return product
