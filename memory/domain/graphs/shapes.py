"""Outlines as SVG path data: one drawing language for the canvas and for the SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.domain.graphs.pictures import BOX_HEIGHT, BOX_WIDTH, Box, Picture, Point, Wire

MARGIN = 24.0
BESIDE = 46.0
"""How far a wire swings out of the straight line when there is another one."""

ARROW = 9.0

_W, _H = BOX_WIDTH / 2, BOX_HEIGHT / 2
OUTLINES = {
    "action": f"M{-_W + 8} {-_H}H{_W - 8}Q{_W} {-_H} {_W} {-_H + 8}V{_H - 8}Q{_W} {_H} {_W - 8} {_H}"
    f"H{-_W + 8}Q{-_W} {_H} {-_W} {_H - 8}V{-_H + 8}Q{-_W} {-_H} {-_W + 8} {-_H}Z",
    "decision": f"M{-_W + 16} {-_H}H{_W - 16}L{_W + 6} 0L{_W - 16} {_H}H{-_W + 16}L{-_W - 6} 0Z",
    "event": f"M{-_W} {-_H}H{_W - 18}L{_W} {-_H + 18}V{_H}H{-_W}Z",
    "entity": f"M{-_W + 32} {-_H}H{_W - 32}A32 32 0 0 1 {_W - 32} {_H}"
    f"H{-_W + 32}A32 32 0 0 1 {-_W + 32} {-_H}Z",
}
"""By kind, around (0, 0): a rounded box, a pointed one, one with a cut corner, a pill."""
DOT_OUTLINES = {
    "action": "M-32 0A32 32 0 1 1 32 0A32 32 0 1 1 -32 0Z",
    "decision": "M0 -36L36 0L0 36L-36 0Z",
    "event": "M0 -32L36 32H-36Z",
    "entity": "M-30 -30H30V30H-30Z",
    "group": "M-36 0L-18 -32H18L36 0L18 32H-18Z",
}
"""The same for the dots of a graph: a circle, a diamond, a triangle, a square, a hexagon."""


def bounds(picture: Picture) -> tuple[float, float, float, float]:
    """Left, top, width and height of the picture with its margin."""
    if not picture.boxes:
        return 0.0, 0.0, 2 * MARGIN, 2 * MARGIN
    points = [
        (box.x + side * box.width / 2, box.y + end * box.height / 2)
        for box in picture.boxes
        for side, end in ((-1, -1), (1, 1))
    ]
    points += [bend for wire in picture.wires for bend in wire.bends]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    margin = MARGIN + (BESIDE if any(wire.backward or wire.twin for wire in picture.wires) else 0)
    left, top = min(xs) - margin, min(ys) - MARGIN
    return left, top, max(xs) - left + margin, max(ys) - top + MARGIN


@dataclass(frozen=True)
class Line:
    """A wire as path data: the line, its arrowhead, and where its label stands."""

    data: str
    arrow: str
    label_x: float
    label_y: float


def line_of(wire: Wire, boxes: Mapping[str, Box], flow: str) -> Line:
    """The wire from the edge of its source to the edge of its target, in the picture's own coordinates."""
    source, target = boxes[wire.source], boxes[wire.target]
    if source is target:
        x, y, out = source.x + source.width / 2, source.y, BESIDE
        data = f"M{x:g} {y - 12:g}C{x + out:g} {y - 30:g} {x + out:g} {y + 30:g} {x:g} {y + 12:g}"
        return Line(data, _arrow((x, y + 12), (-1, 0)), x + out, y)
    if wire.backward and wire.bends:
        return _around(wire, source, target, flow)
    if wire.twin or wire.backward:
        return _beside(wire, source, target, flow)
    start, end, along = _ends(source, target, flow)
    if wire.bends:
        x, y = wire.bends[len(wire.bends) // 2]
    else:
        x, y = start[0] + 0.65 * (end[0] - start[0]), start[1] + 0.57 * (end[1] - start[1])
    return Line(_through([start, *wire.bends, end], flow), _arrow(end, along), x, y)


def _ends(source: Box, target: Box, flow: str) -> tuple[Point, Point, Point]:
    """Where the wire leaves, where it arrives, and in which direction."""
    if flow == "right":
        sign = 1 if target.x >= source.x else -1
        start = (source.x + sign * source.width / 2, source.y)
        return start, (target.x - sign * target.width / 2, target.y), (sign, 0)
    sign = 1 if target.y >= source.y else -1
    start = (source.x, source.y + sign * source.height / 2)
    return start, (target.x, target.y - sign * target.height / 2), (0, sign)


def _beside(wire: Wire, source: Box, target: Box, flow: str) -> Line:
    """Out at the side, so that it does not lie on its twin."""
    out = BESIDE * (1 + wire.twin * 0.6)
    if flow == "right":
        x1, y1, x2, y2 = source.x, source.y + source.height / 2, target.x, target.y + target.height / 2
        data = f"M{x1:g} {y1:g}C{x1:g} {y1 + out:g} {x2:g} {y2 + out:g} {x2:g} {y2:g}"
        return Line(data, _arrow((x2, y2), (0, -1)), (x1 + x2) / 2, (y1 + y2) / 2 + out * 0.75)
    x1, y1, x2, y2 = source.x + source.width / 2, source.y, target.x + target.width / 2, target.y
    data = f"M{x1:g} {y1:g}C{x1 + out:g} {y1:g} {x2 + out:g} {y2:g} {x2:g} {y2:g}"
    return Line(data, _arrow((x2, y2), (-1, 0)), (x1 + x2) / 2 + out * 0.75, (y1 + y2) / 2)


def _around(wire: Wire, source: Box, target: Box, flow: str) -> Line:
    """Against the flow: out at the side where its bends are, and in again there."""
    if flow == "right":
        turned = Wire(wire.id, wire.source, wire.target, tuple((y, x) for x, y in wire.bends))
        (start, lead), (end, tail) = _port(source, turned.bends[0], 1), _port(target, turned.bends[-1], 1)
        points = [(x, y) for y, x in (start, lead, *turned.bends, tail, end)]
    else:
        (start, lead), (end, tail) = _port(source, wire.bends[0], 0), _port(target, wire.bends[-1], 0)
        points = [start, lead, *wire.bends, tail, end]
    first, control, *inner, last_control, last = points
    x, y = wire.bends[len(wire.bends) // 2]
    data = f"M{_xy(first)}C{_xy(control)} {_xy(inner[0])} {_xy(inner[0])}"
    data += _through(inner, flow).partition("C")[1] + _through(inner, flow).partition("C")[2]
    data += f"C{_xy(inner[-1])} {_xy(last_control)} {_xy(last)}"
    return Line(data, _arrow(last, _direction(last_control, last)), x, y)


def _port(box: Box, bend: Point, axis: int) -> tuple[Point, Point]:
    """Where a wire that comes from a bend meets the box, and the point that it bends towards before.

    In coordinates across and along the flow. A bend beside the box meets its side, one below or above it
    meets its end.
    """
    across, along = (box.x, box.y) if axis == 0 else (box.y, box.x)
    half, end = (box.width / 2, box.height / 2) if axis == 0 else (box.height / 2, box.width / 2)
    if abs(bend[0] - across) > half + ARROW:
        side = across + math.copysign(half, bend[0] - across)
        return (side, along), (bend[0], along)
    edge = along + math.copysign(end, bend[1] - along)
    return (bend[0], edge), (bend[0], (edge + bend[1]) / 2)


def _direction(before: Point, tip: Point) -> Point:
    """One step along the axis in which the wire arrives."""
    dx, dy = tip[0] - before[0], tip[1] - before[1]
    return (math.copysign(1, dx), 0.0) if abs(dx) > abs(dy) else (0.0, math.copysign(1, dy))


def _xy(point: Point) -> str:
    return f"{point[0]:g} {point[1]:g}"


def _through(points: Sequence[Point], flow: str) -> str:
    """A smooth line that passes every point in the direction of the flow."""
    (x, y), *rest = points
    data = [f"M{x:g} {y:g}"]
    for x2, y2 in rest:
        if flow == "right":
            middle = (x + x2) / 2
            data.append(f"C{middle:g} {y:g} {middle:g} {y2:g} {x2:g} {y2:g}")
        else:
            middle = (y + y2) / 2
            data.append(f"C{x:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}")
        x, y = x2, y2
    return "".join(data)


def _arrow(tip: Point, along: Point) -> str:
    """A filled arrowhead whose tip arrives in the given direction."""
    (x, y), (dx, dy) = tip, along
    backx, backy = x - dx * ARROW, y - dy * ARROW
    side = ARROW / 2
    return (
        f"M{x:g} {y:g}L{backx - dy * side:g} {backy + dx * side:g}"
        f"L{backx + dy * side:g} {backy - dx * side:g}Z"
    )
