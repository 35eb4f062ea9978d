"""Drawings for the browser: nodes, edges and options by pyvis, drawn by its vis-network in our own module.

Texts of agents travel as JSON and are painted on a canvas or escaped into an SVG; none is ever read as HTML,
so no node has a ``title``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyvis.network import Network

from memory.domain.graphs.pictures import BOX_HEIGHT, BOX_WIDTH, Box, Picture, Wire
from memory.domain.graphs.shapes import DOT_OUTLINES, OUTLINES, Line, bounds, line_of

DRAWN_WITHOUT_SCRIPTS = 100
"""Up to so many nodes the page holds an SVG, too; beyond, the list beside it has the facts."""
DOTS = {"action": "dot", "decision": "diamond", "event": "triangle", "entity": "square", "group": "hexagon"}
OPTIONS: Mapping[str, Any] = {
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False},
    "interaction": {"hover": True, "keyboard": False, "dragNodes": False, "hideEdgesOnDrag": False},
    "nodes": {"chosen": False},
    "edges": {"chosen": False, "smooth": False},
}
WEIGHT_LABEL_FROM = 2


@dataclass(frozen=True)
class Drawn:
    """A wire for the SVG."""

    wire: Wire
    line: Line


@dataclass(frozen=True)
class Drawing:
    """What the template ``graphs/graph.html`` needs. ``name`` is unique on the page.

    ``data`` goes to the script as JSON. ``boxes`` and ``lines`` are there for the SVG, empty beyond
    ``DRAWN_WITHOUT_SCRIPTS`` nodes. ``kinds`` and ``marks`` are what the legend explains,
    ``words`` what it calls kinds of nodes here, where that is something else.
    """

    name: str
    title: str
    data: Mapping[str, Any]
    view: str
    width: float
    height: float
    boxes: tuple[Box, ...] = ()
    lines: tuple[Drawn, ...] = ()
    kinds: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    tones: tuple[str, ...] = ()
    count: int = 0
    outlines: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data_id(self) -> str:
        """The id of the element that holds the data."""
        return f"graph-{self.name}-data"


def draw(
    picture: Picture,
    *,
    name: str,
    title: str,
    links: Mapping[str, str] | None = None,
    words: Mapping[str, Any] | None = None,
) -> Drawing:
    """Make a picture a drawing. ``links`` says by box id what Enter and a double click open."""
    boxes = {box.id: box for box in picture.boxes}
    lines = (
        [Drawn(wire, line_of(wire, boxes, picture.flow)) for wire in picture.wires] if picture.flow else []
    )
    network = Network(directed=True)
    for box in picture.boxes:
        _add_node(network, box, picture.flow, (links or {}).get(box.id, ""))
    for place, wire in enumerate(picture.wires):
        _add_edge(network, wire, lines[place].line if lines else None)
    network.set_options(json.dumps(OPTIONS))
    nodes, edges, _, _, _, options = network.get_network_data()
    left, top, width, height = bounds(picture)
    is_small = len(boxes) <= DRAWN_WITHOUT_SCRIPTS and bool(picture.flow)
    return Drawing(
        name=name,
        title=title,
        data={"nodes": nodes, "edges": edges, "options": json.loads(options), "flow": picture.flow}
        | {"bounds": [left, top, width, height]}
        | ({"outlines": OUTLINES, "box": [BOX_WIDTH, BOX_HEIGHT]} if picture.flow else {}),
        view=f"{left:g} {top:g} {width:g} {height:g}",
        width=width,
        height=height,
        boxes=picture.boxes if is_small else (),
        lines=tuple(lines) if is_small else (),
        kinds=tuple(dict.fromkeys(box.kind for box in picture.boxes)),
        marks=tuple(
            dict.fromkeys(
                one.mark for one in (*picture.boxes, *picture.wires) if one.mark not in ("", "kept")
            )
        ),
        tones=tuple(dict.fromkeys(box.tone for box in picture.boxes if box.tone)),
        count=len(boxes),
        outlines=OUTLINES if picture.flow else DOT_OUTLINES,
        words=words or {},
    )


def _add_node(network: Network, box: Box, flow: str, href: str) -> None:
    """The look by kind is the script's, in the colours of the theme."""
    given: dict[str, Any] = {"x": box.x, "y": box.y, "kind": box.kind, "group": box.kind}
    given |= {name: sign for name, sign in (("tone", box.tone), ("mark", box.mark)) if sign}
    if flow:
        given |= {"lines": box.lines}
    else:
        given |= {"size": box.width / 2}
    if href:
        given["href"] = href
    shape = "custom" if flow else DOTS.get(box.kind, "dot")
    network.add_node(box.id, label=" ".join(box.lines) or box.kind, shape=shape, **given)


def _add_edge(network: Network, wire: Wire, line: Line | None) -> None:
    """A path's wire is painted along its own line; in a graph it is straight, the wider the more frequent."""
    given: dict[str, Any] = {"id": wire.id}
    given |= {name: said for name, said in (("label", wire.label), ("mark", wire.mark)) if said}
    if line is not None:
        given |= {"line": line.data, "arrow": line.arrow, "at": [line.label_x, line.label_y], "hidden": True}
        given |= {"backward": True} if wire.backward else {}
    elif wire.weight >= WEIGHT_LABEL_FROM:
        given |= {"label": wire.label or f"{wire.weight:g}×", "width": min(1 + wire.weight**0.5 / 2, 8)}
    network.add_edge(wire.source, wire.target, **given)
