"""Pictures in pixels: boxes and wires, for a canvas as well as for an SVG. Nothing here knows either."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from memory.domain.graphs.graph import Graph
from memory.domain.graphs.layered import Layered, Place, layered
from memory.domain.graphs.spread import spread
from memory.domain.graphs.texts import plain, shorten, wrap
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc

Flow = Literal["down", "right"]
Mark = Literal["", "added", "removed", "relabelled", "kept"]

BOX_WIDTH, BOX_HEIGHT = 208, 64
TITLE_CELLS, TEXT_CELLS, EDGE_CELLS = 26, 31, 30
GAP = {"down": (236, 122), "right": (300, 100)}
"""Pixels from one column to the next and from one layer to the next, by the flow."""
DOT_GAP = 64
DOT_RADIUS = (10.0, 36.0)
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A node: ``x``, ``y`` is its middle. ``lines`` are a title and up to two lines of text, already cut."""

    id: str
    kind: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float = BOX_WIDTH
    height: float = BOX_HEIGHT
    tone: str = ""
    mark: Mark = ""


@dataclass(frozen=True)
class Wire:
    """An edge by its boxes' ids, through ``bends``. ``twin`` counts the ones between the two before it."""

    id: str
    source: str
    target: str
    bends: tuple[Point, ...] = ()
    label: str = ""
    weight: float = 1.0
    mark: Mark = ""
    backward: bool = False
    twin: int = 0


@dataclass(frozen=True)
class Picture:
    """What is to be drawn. ``flow`` is "" for a graph without a direction; there boxes are dots."""

    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    flow: Flow | Literal[""] = "down"


def picture_of_path(
    path: PathDoc,
    *,
    flow: Flow = "down",
    node_marks: Mapping[str, Mark] | None = None,
    edge_marks: Mapping[int, Mark] | None = None,
    words: Mapping[str, str] | None = None,
) -> Picture:
    """The path in layers. Box ``n3`` is the node at position 3, wire ``e0`` the first edge.

    ``node_marks`` by node name and ``edge_marks`` by the edge's position say what a comparison found. Edges
    that refer to no node of the path are left out. A node without an edge stands after the one before it.
    """
    number = {node.name: place for place, node in enumerate(path.nodes)}
    known = [
        (place, edge)
        for place, edge in enumerate(path.edges)
        if edge.source in number and edge.target in number
    ]
    grid = _grid(path.nodes, [edge for _, edge in known])
    boxes = [
        _box(place, node, _point(grid.places[node.name], flow), (node_marks or {}).get(node.name, ""), words)
        for place, node in enumerate(path.nodes)
    ]
    twins: dict[frozenset[str], int] = {}
    wires = []
    for seat, (place, edge) in enumerate(known):
        ends = frozenset((edge.source, edge.target))
        twins[ends] = twins.get(ends, -1) + 1
        wires.append(
            Wire(
                f"e{place}",
                f"n{number[edge.source]}",
                f"n{number[edge.target]}",
                tuple(_point(bend, flow) for bend in grid.bends.get(seat, ())),
                edge_label(edge),
                mark=(edge_marks or {}).get(place, ""),
                backward=seat in grid.backward,
                twin=twins[ends],
            )
        )
    return Picture(tuple(boxes), tuple(wires), flow)


def _grid(nodes: Sequence[NodeDoc], edges: Sequence[EdgeDoc]) -> Layered:
    """The layout of the real edges, and of one more before every node that none leads to."""
    reached = {edge.target for edge in edges if edge.source != edge.target}
    order = [(before.name, node.name) for before, node in pairwise(nodes) if node.name not in reached]
    return layered([node.name for node in nodes], [(edge.source, edge.target) for edge in edges] + order)


def _point(place: Place, flow: Flow) -> Point:
    across, along = GAP[flow]
    if flow == "down":
        return round(place.column * across, 1), float(place.layer * along)
    return float(place.layer * across), round(place.column * along, 1)


def _box(number: int, node: NodeDoc, middle: Point, mark: Mark, words: Mapping[str, str] | None) -> Box:
    (x, y), (title, text) = middle, node_texts(node, words)
    lines = (shorten(f"{number + 1}. {title}", TITLE_CELLS), *wrap(text, TEXT_CELLS, 2))
    return Box(f"n{number}", node.kind, lines, x, y, tone=node_tone(node), mark=mark)


def node_texts(node: NodeDoc, words: Mapping[str, str] | None = None) -> tuple[str, str]:
    """A title (its tool, or its kind in the reader's ``words``) and what there is to say beyond it."""
    title = plain(node.tool) or (words or {}).get(node.kind, node.kind)
    text = plain(node.content)
    if text and text != title:
        return title, text
    return title, given_text(node) or plain(node.name if node.name != title else "")


def given_text(node: NodeDoc) -> str:
    """The parameters on one line: ``name: value, name: value``."""
    return ", ".join(f"{plain(name)}: {plain(_said(value))}" for name, value in node.params.items())


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def node_tone(node: NodeDoc) -> str:
    """``bad`` for what went wrong, "" otherwise."""
    is_failure = node.kind == "event" and {"error", "error_type", "pattern"} & set(node.details)
    return "bad" if is_failure else ""


def edge_label(edge: EdgeDoc) -> str:
    """When the edge is taken and what it is called, in one short line."""
    parts = [plain(edge.condition), plain(edge.label)]
    return shorten(" · ".join(dict.fromkeys(part for part in parts if part)), EDGE_CELLS)


def picture_of_graph(graph: Graph) -> Picture:
    """The graph as dots around (0, 0): the more often a node occurs, the larger its dot."""
    places = spread(
        [node.id for node in graph.nodes], [(edge.source, edge.target, edge.weight) for edge in graph.edges]
    )
    heaviest = max((node.weight for node in graph.nodes), default=1.0)
    boxes = []
    for node in graph.nodes:
        x, y = places[node.id]
        size = round(2 * _radius(node.weight, heaviest), 1)
        text = (shorten(plain(node.label) or node.kind, TITLE_CELLS),)
        boxes.append(Box(node.id, node.kind, text, round(x * DOT_GAP, 1), round(y * DOT_GAP, 1), size, size))
    wires = [
        Wire(
            f"e{place}",
            edge.source,
            edge.target,
            label=shorten(plain(edge.label), EDGE_CELLS),
            weight=edge.weight,
        )
        for place, edge in enumerate(graph.edges)
    ]
    return Picture(tuple(boxes), tuple(wires), "")


def _radius(weight: float, heaviest: float) -> float:
    """The area of the dot grows with the logarithm of the weight."""
    smallest, largest = DOT_RADIUS
    return smallest + (largest - smallest) * math.sqrt(math.log1p(weight) / math.log1p(max(heaviest, 1.0)))
