"""The parts of the path pages that need no page: version tree, chart, stretches, comparing, drawing data."""

from datetime import timedelta

import pytest

from memory.domain.graphs.graph import Graph, GraphEdge, GraphNode
from memory.domain.graphs.pictures import picture_of_graph
from memory.domain.paths.document import NodeDoc
from memory.models import Path, PathUse, RewardChange
from memory.web.drawing import DRAWN_WITHOUT_SCRIPTS, draw
from memory.web.path_charts import reward_chart
from memory.web.path_comparing import compare_paths
from memory.web.path_drawings import draw_path
from memory.web.path_steps import step_rows, stretch_from
from memory.web.path_versions import version_tree
from tests.builders import NOW, make_doc


def test_version_tree__branch_after_a_roll_back__stands_below_its_parent() -> None:
    rows = [Path(pk=1, version=1), Path(pk=2, version=2, parent_id=1), Path(pk=3, version=3, parent_id=1)]
    rows.append(Path(pk=4, version=4, parent_id=2))

    tree = version_tree(rows)

    assert [(one.path.version, one.depth) for one in tree] == [(1, 0), (2, 1), (4, 2), (3, 1)]


def test_version_tree__long_chain__stops_moving_in() -> None:
    rows = [Path(pk=number, version=number, parent_id=number - 1) for number in range(1, 12)]

    assert [one.indent for one in version_tree(rows)] == [0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6]


def test_chart__changes_and_uses__share_one_axis_in_order() -> None:
    changes = [
        RewardChange(old=0.2, new=0.7, cause="use", changed_at=NOW),
        RewardChange(old=0.7, new=0.0, cause="penalty", changed_at=NOW + timedelta(hours=2)),
    ]
    uses = [PathUse(result="success", used_at=NOW + timedelta(hours=1))]

    chart = reward_chart(0.0, changes, uses)

    assert [bool(moment.change) for moment in chart.moments] == [True, False, True]
    assert [moment.x for moment in chart.moments] == sorted(moment.x for moment in chart.moments)
    heights = [float(point.split(",")[1]) for point in chart.line.split()]
    assert (heights[0], heights[-1]) == (chart.base - 0.2 * (chart.base - chart.top), chart.base)


def test_chart__nothing_happened__is_a_straight_line() -> None:
    assert {point.split(",")[1] for point in reward_chart(0.5, [], []).line.split()} == {"73"}


@pytest.mark.parametrize(
    ("asked", "total", "shown"),
    [
        pytest.param(None, 450, (1, 200, 0, 201), id="start"),
        pytest.param(201, 450, (201, 400, 1, 401), id="middle"),
        pytest.param(401, 450, (401, 450, 201, 0), id="end"),
        pytest.param(999, 450, (1, 200, 0, 201), id="beyond"),
        pytest.param(0, 3, (1, 3, 0, 0), id="short"),
        pytest.param(50, 450, (50, 249, 1, 250), id="between"),
    ],
)
def test_stretch__asked_for__says_what_is_beside_it(
    asked: int | None, total: int, shown: tuple[int, int, int, int]
) -> None:
    stretch = stretch_from(asked, total)

    assert (stretch.first, stretch.last, stretch.before, stretch.after) == shown


def test_steps__rows__name_the_boxes_of_the_drawing() -> None:
    doc = make_doc("g", ["find", "book"])

    boxes = [node["id"] for node in draw_path(doc).data["nodes"]]

    assert [row.box for row in step_rows(doc)] == boxes


def test_compare__changed_paths__marks_both_sides() -> None:
    old = make_doc(
        "g", [NodeDoc(name="a", tool="find"), NodeDoc(name="b", tool="ask"), NodeDoc(name="c", tool="book")]
    )
    new = make_doc("g", [NodeDoc(name="a", tool="find"), NodeDoc(name="c", tool="book", params={"n": 1})])

    compared = compare_paths(old, new)

    marks = [[node.get("mark") for node in side.data["nodes"]] for side in (compared.old, compared.new)]
    assert marks == [["kept", "removed", "relabelled"], ["kept", "relabelled"]]
    assert [(line.kind, line.shows) for line in compared.steps] == [
        ("kept", "old:n0 new:n0"), ("removed", "old:n1"), ("relabelled", "old:n2 new:n1"),
    ]  # fmt: skip
    assert {edge.kind for edge in compared.edges} == {"removed", "added"}


def test_compare__same_path__says_so() -> None:
    doc = make_doc("g", ["find", "book"])

    assert compare_paths(doc, doc).is_same


def test_drawing__many_nodes__has_no_svg() -> None:
    few = draw_path(make_doc("g", [f"t{number}" for number in range(DRAWN_WITHOUT_SCRIPTS)]))
    many = draw_path(make_doc("g", [f"t{number}" for number in range(DRAWN_WITHOUT_SCRIPTS + 1)]))

    assert (len(few.boxes), len(many.boxes), many.count) == (100, 0, 101)


def test_drawing__data__has_no_title_that_a_browser_could_read_as_html() -> None:
    drawing = draw_path(make_doc("g", [NodeDoc(name="a", tool="<b>x</b>", content="<img src=x>")]))

    assert "title" not in drawing.data["nodes"][0]
    assert drawing.data["options"]["physics"] == {"enabled": False}


def test_drawing__graph__sizes_dots_and_widths_by_weight_and_keeps_links() -> None:
    graph = Graph(
        (GraphNode("a", "A", weight=50), GraphNode("b", "B"), GraphNode("group:x", "x", "group")),
        (GraphEdge("a", "b", 9), GraphEdge("b", "group:x")),
    )

    data = draw(picture_of_graph(graph), name="g", title="G", links={"a": "/w/x/"}).data

    assert data["nodes"][0]["size"] > data["nodes"][1]["size"]
    assert [node.get("href") for node in data["nodes"]] == ["/w/x/", None, None]
    assert data["edges"][0]["label"] == "9×"
    assert "label" not in data["edges"][1]
