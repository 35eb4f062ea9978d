"""Where paths from real runs went wrong, and what is left of them for a rewriter."""

from typing import Any

import pytest

from memory.domain.paths.building import build_paths
from memory.domain.paths.document import NodeDoc, PathDoc, chain
from memory.domain.paths.runs import Run, RunCall, RunFailure
from memory.domain.rewriting.failing import Hint, earlier_tries, find_failure, plain_walk, repair_of

OPEN = RunFailure(message="the door is open", template="the door is open", error_type="DoorError")
EMPTY = RunFailure(message="no fuel: 0 l", template="no fuel: <n> l", error_type="FuelError")


def calls(*steps: tuple[str, RunFailure | None]) -> list[RunCall]:
    return [
        RunCall(seq=seq, tool=tool, input={"n": seq}, failure=failure, output="ok", step=seq)
        for seq, (tool, failure) in enumerate(steps)
    ]


def walk_of(*steps: tuple[str, RunFailure | None], outcome: str = "failure") -> PathDoc:
    """The walk of a run that made these calls."""
    run = Run(external_id="r", calls=calls(*steps), goal="Start the car", outcome=outcome)
    return build_paths(run)[0].doc


def hand_written() -> PathDoc:
    nodes = tuple(NodeDoc(name=name, tool=name) for name in ("look", "book", "pay"))
    return PathDoc(goal="g", nodes=nodes, edges=chain([node.name for node in nodes]), result="failure")


@pytest.mark.parametrize(
    ("path", "hint", "expected"),
    [
        pytest.param(
            walk_of(("refuel", None), ("start", OPEN)), None, ("start", "the door is open", "DoorError"),
            id="the call that failed",
        ),
        pytest.param(
            walk_of(("refuel", EMPTY), ("start", OPEN)), None, ("start", "the door is open", "DoorError"),
            id="the last of two",
        ),
        pytest.param(
            walk_of(("refuel", EMPTY), ("start", OPEN)), Hint(seq=0, message="hinted"),
            ("refuel", "hinted", "FuelError"), id="the call that evidence names",
        ),
        pytest.param(
            walk_of(("refuel", None), ("start", OPEN)), Hint(tool="refuel", message="late", error_type="X"),
            ("refuel", "late", "X"), id="a failure of another task",
        ),
        pytest.param(hand_written(), None, ("pay", "", ""), id="by hand: the last action"),
        pytest.param(
            hand_written(), Hint(tool="book", message="full"), ("book", "full", ""), id="by hand: the hint"
        ),
        pytest.param(
            hand_written(), Hint(tool="elsewhere", message="x"), ("pay", "x", ""), id="a tool it does not use"
        ),
    ],
)  # fmt: skip
def test_find_failure__a_path__names_the_node_to_repair(
    path: PathDoc, hint: Hint | None, expected: tuple[str, str, str]
) -> None:
    point = find_failure(path, hint)

    assert point is not None
    assert (point.node, point.message, point.error_type) == expected


def test_find_failure__masked_message__comes_with_it() -> None:
    point = find_failure(walk_of(("refuel", EMPTY)))

    assert point is not None
    assert point.template == "no fuel: <n> l"


def test_find_failure__no_action_at_all__is_none() -> None:
    assert find_failure(PathDoc(goal="g", nodes=(NodeDoc(name="a", kind="decision", content="x"),))) is None


@pytest.mark.parametrize(
    ("path", "keep", "tools"),
    [
        pytest.param(walk_of(("a", None), ("b", OPEN)), "b", ["a", "b"], id="the failing call stays"),
        pytest.param(walk_of(("a", None), ("b", OPEN)), "", ["a"], id="or goes"),
        pytest.param(
            walk_of(("a", EMPTY), ("b", None), ("a", None), ("c", OPEN)), "c", ["b", "a", "c"],
            id="a detour before it is straightened",
        ),
        pytest.param(walk_of(("a", None), ("b", None)), "", ["a", "b"], id="nothing failed"),
    ],
)  # fmt: skip
def test_plain_walk__a_path_from_a_run__tells_of_no_failure(
    path: PathDoc, keep: str, tools: list[str]
) -> None:
    plain = plain_walk(path, keep)

    assert [node.tool for node in plain.nodes] == tools
    assert {edge.source for edge in plain.edges} | {edge.target for edge in plain.edges} <= {
        node.name for node in plain.nodes
    }


def test_repair_of__a_detour__teaches_what_was_missing_before_the_failure() -> None:
    steps = [("refuel", None), ("start", OPEN), ("lock", None), ("start", None), ("drive", None)]
    run = Run(external_id="r", calls=calls(*steps), goal="Start the car", outcome="success")
    walk, clean = (variant.doc for variant in build_paths(run))

    repair = repair_of(walk, clean)

    assert repair is not None
    assert [node.tool for node in repair.failed.nodes] == ["refuel", "start", "drive"]
    assert [node.tool for node in repair.fixed.nodes] == ["refuel", "lock", "start", "drive"]
    assert (repair.failed.nodes[1].params, repair.failure.message) == ({"n": 1}, "the door is open")


def test_repair_of__nothing_failed__teaches_nothing() -> None:
    assert repair_of(hand_written(), hand_written()) is None


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_plain_walk__event_of_another_kind__stays(kept: int) -> None:
    event: dict[str, Any] = {"name": "night", "kind": "event", "content": "It got dark."}
    nodes = [NodeDoc(name=name, tool=name) for name in ("a", "b")]
    nodes.insert(kept, NodeDoc(**event))
    path = PathDoc(goal="g", nodes=tuple(nodes), edges=chain([node.name for node in nodes]))

    assert plain_walk(path) == path


def test_repair_of__the_tool_looks_around_first__the_look_is_what_was_missing() -> None:
    query, look = "SELECT name FROM stadiums WHERE id = 1", "SHOW TABLES"
    mended = "SELECT name FROM stadium WHERE id = 1"
    steps = [(query, OPEN), (look, None), (mended, None)]
    made = [
        RunCall(seq=seq, tool="ask", input={"cmd": text}, failure=failure, output=f"rows {seq}", step=seq)
        for seq, (text, failure) in enumerate(steps)
    ]
    walk, good = (
        built.doc
        for built in build_paths(Run(external_id="r", calls=made, goal="Ask", outcome="success"))[:2]
    )

    repair = repair_of(walk, good)

    assert repair is not None
    assert [node.params["cmd"] for node in repair.failed.nodes] == [query]
    assert [node.params["cmd"] for node in repair.fixed.nodes] == [look, mended]


def test_earlier_tries__several_failures__every_try_but_the_one_to_repair() -> None:
    walk = walk_of(("refuel", EMPTY), ("look", None), ("start", OPEN), ("start", OPEN))

    tries = earlier_tries(walk, keep="start")

    assert [(node.tool, node.params["n"]) for node in tries] == [("refuel", 0), ("start", 2)]
