"""Pictures: texts that fit, boxes and wires, outlines that a browser can read."""

import re

import pytest

from memory.domain.graphs.pictures import Picture, edge_label, node_tone, picture_of_path
from memory.domain.graphs.shapes import OUTLINES, bounds, line_of
from memory.domain.graphs.texts import plain, shorten, width, wrap
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc

PATH_DATA = re.compile(r"[MLHVCQAZ0-9eE.\- ]+")


def drawn(flow: str = "down") -> Picture:
    """A path with a branch, a way back, twins and a loop."""
    nodes = tuple(NodeDoc(name=name, tool=name) for name in "abcd")
    ends = ["ab", "bc", "cd", "ad", "da", "cb", "bc", "bb"]
    edges = tuple(EdgeDoc(source=one, target=other, condition="ok") for one, other in ends)
    return picture_of_path(PathDoc(goal="g", nodes=nodes, edges=edges), flow=flow)


@pytest.mark.parametrize(
    ("text", "cells", "lines", "wrapped"),
    [
        pytest.param("short", 10, 2, ("short",), id="fits"),
        pytest.param("two words here", 10, 2, ("two words", "here"), id="at-a-space"),
        pytest.param("abcdefghijkl", 5, 2, ("abcde", "fghi…"), id="no-space"),
        pytest.param("查询航班并预订座位", 8, 2, ("查询航班", "并预订…"), id="wide"),
        pytest.param("a\n\tb", 9, 2, ("a b",), id="white-space"),
        pytest.param("", 9, 2, (), id="empty"),
        pytest.param("one two three", 7, 1, ("one tw…",), id="one-line"),
    ],
)
def test_wrap__text__fits(text: str, cells: int, lines: int, wrapped: tuple[str, ...]) -> None:
    assert wrap(text, cells, lines) == wrapped
    assert all(width(line) <= cells for line in wrapped)


def test_plain__controls_and_direction_marks__go() -> None:
    assert plain("a\x00b\u202ec \u200b d\ud800") == "abc d"


def test_shorten__wide_text__keeps_within_the_cells() -> None:
    assert shorten("查询航班", 5) == "查询…"


def test_picture__path__keeps_order_and_names_by_position() -> None:
    picture = drawn()

    assert [box.id for box in picture.boxes] == ["n0", "n1", "n2", "n3"]
    assert [box.lines[0] for box in picture.boxes] == ["1. a", "2. b", "3. c", "4. d"]
    assert [wire.id for wire in picture.wires] == [f"e{place}" for place in range(8)]
    assert [wire.id for wire in picture.wires if wire.backward] == ["e4", "e5"]


def test_picture__nodes_without_edges__stand_one_below_the_other() -> None:
    nodes = tuple(NodeDoc(name=name) for name in "abc")

    ys = [box.y for box in picture_of_path(PathDoc(goal="g", nodes=nodes)).boxes]

    assert ys == sorted(set(ys))


def test_picture__edge_to_nowhere__is_left_out() -> None:
    path = PathDoc(goal="g", nodes=(NodeDoc(name="a"),), edges=(EdgeDoc(source="a", target="gone"),))

    assert picture_of_path(path).wires == ()


def test_picture__marks__are_on_their_boxes_and_wires() -> None:
    path = PathDoc(
        goal="g", nodes=(NodeDoc(name="a"), NodeDoc(name="b")), edges=(EdgeDoc(source="a", target="b"),)
    )

    picture = picture_of_path(path, node_marks={"b": "added"}, edge_marks={0: "removed"})

    assert [box.mark for box in picture.boxes] == ["", "added"]
    assert picture.wires[0].mark == "removed"


@pytest.mark.parametrize("flow", ["down", "right"])
def test_line__any_wire__is_path_data_within_the_bounds(flow: str) -> None:
    picture = drawn(flow)
    boxes = {box.id: box for box in picture.boxes}
    left, top, wide, high = bounds(picture)

    for wire in picture.wires:
        line = line_of(wire, boxes, picture.flow)
        assert PATH_DATA.fullmatch(line.data)
        assert PATH_DATA.fullmatch(line.arrow)
        assert left <= line.label_x <= left + wide
        assert top <= line.label_y <= top + high
    assert all(PATH_DATA.fullmatch(outline) for outline in OUTLINES.values())


@pytest.mark.parametrize(
    ("edge", "label"),
    [
        pytest.param(EdgeDoc(source="a", target="b"), "", id="plain"),
        pytest.param(EdgeDoc(source="a", target="b", condition="ok"), "ok", id="condition"),
        pytest.param(EdgeDoc(source="a", target="b", condition="ok", label="next"), "ok · next", id="both"),
        pytest.param(EdgeDoc(source="a", target="b", condition="ok", label="ok"), "ok", id="same"),
    ],
)
def test_edge_label__condition_and_label__in_one_line(edge: EdgeDoc, label: str) -> None:
    assert edge_label(edge) == label


@pytest.mark.parametrize(
    ("node", "tone"),
    [
        pytest.param(NodeDoc(name="a", kind="event", details={"error_type": "E"}), "bad", id="failure"),
        pytest.param(NodeDoc(name="a", kind="event", content="paid"), "", id="event"),
        pytest.param(NodeDoc(name="a", details={"error": "x"}), "", id="action"),
    ],
)
def test_node_tone__failure_event__is_bad(node: NodeDoc, tone: str) -> None:
    assert node_tone(node) == tone
