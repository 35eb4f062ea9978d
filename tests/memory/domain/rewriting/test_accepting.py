"""What a rewrite makes, checked; and the sub-paths that stay."""

from typing import Any

import msgspec
import pytest

from memory.domain.paths.checking import check_path
from memory.domain.paths.document import NodeDoc, PathDoc, chain
from memory.domain.rewriting.accepting import accept
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite


def node(name: str, **fields: Any) -> NodeDoc:
    return NodeDoc(**{"name": name, "tool": name, **fields})


def path(*names: str, **fields: Any) -> PathDoc:
    given = {"goal": "g", "result": "failure", "edges": chain(names), **fields}
    return PathDoc(nodes=tuple(node(name) for name in names), **given)


INNER = path("b", "c", level="tool", span=(0, 1), result="retry", reward=0.8)
OLD = path(
    "a", "b", "c", "d", "e",
    parts=(
        path("b", "c", level="subtask", span=(1, 2), result="success", reward=1.0, parts=(INNER,)),
        path("d", "e", level="subtask", span=(3, 4)),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "parts"),
    [
        pytest.param(("a", "b", "c", "d", "e"), [("b c", 1, 2), ("d e", 3, 4)], id="all stay"),
        pytest.param(("a", node("x"), "b", "c", "d", "e"), [("b c", 2, 3), ("d e", 4, 5)], id="moved"),
        pytest.param(("b", "c"), [("b c", 0, 1)], id="one stays"),
        pytest.param(("a", "b", node("x"), "c", "d", "e"), [("d e", 4, 5)], id="one is torn apart"),
        pytest.param(("a", "c", "b", "d"), [], id="none stays whole"),
    ],
)
def test_accept__parts_whose_nodes_stay_side_by_side__stay(
    nodes: tuple[str | NodeDoc, ...], parts: list[tuple[str, int, int]]
) -> None:
    new = accept(OLD, Rewrite(new_nodes=nodes, reason="x"))

    found = [(" ".join(node.name for node in part.nodes), *(part.span or (-1, -1))) for part in new.parts]
    assert found == parts
    assert check_path(new) == []
    if parts and parts[0][0] == "b c":
        assert (new.parts[0].result, new.parts[0].reward, new.parts[0].parts) == ("success", 1.0, (INNER,))


def test_accept__node_of_a_part_is_another_now__the_part_is_pending() -> None:
    new = accept(OLD, Rewrite(new_nodes=("a", node("b", params={"n": 1}), "c"), reason="x"))

    part = new.parts[0]
    assert (part.nodes[0].params, part.result, part.reward) == ({"n": 1}, "pending", 0.1)
    assert part.parts[0].nodes == part.nodes


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"new_nodes": (node("x" * 121),)}, "new_nodes.0.name", id="a name that is too long"),
        pytest.param(
            {"new_nodes": (node("x", kind="event"),)}, "new_nodes.0.content", id="an event says nothing"
        ),
        pytest.param({"new_tags": ("a", "a")}, "new_tags", id="a tag twice"),
        pytest.param(
            {"new_nodes": (node("x", params={"a": "y" * 40_000}),)}, "new_nodes.0.params", id="too big"
        ),
    ],
)
def test_accept__what_may_not_be_stored__is_refused_with_the_field(
    change: dict[str, Any], field: str
) -> None:
    rewrite = Rewrite(**{"new_nodes": ("a",), "reason": "x", **change})

    with pytest.raises(InvalidRewriteError) as refused:
        accept(OLD, rewrite)
    assert field in refused.value.problems


def test_accept__path_without_a_goal__may_be_rewritten() -> None:
    old = msgspec.structs.replace(OLD, goal="")

    assert accept(old, Rewrite(new_nodes=("a",), reason="x")).goal == ""
