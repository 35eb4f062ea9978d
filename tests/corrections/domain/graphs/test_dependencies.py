"""Edges between rules: a table of pairs, circles, bounds."""

from typing import Any

import pytest

from corrections.domain.graphs import dependencies
from corrections.domain.graphs.dependencies import (
    Dependency,
    Manual,
    RuleFacts,
    dependency_graph,
    edges_from,
    facts_of,
)
from hgmem.rules import Rule


def rule(uuid: str, action: dict[str, Any], condition: str = "", **scope: Any) -> RuleFacts:
    """The facts of a rule on the tool ``book`` unless told otherwise."""
    document = {"uuid": uuid, "applies_to": {"tool": "book", **scope}, "condition": condition, **action}
    return facts_of(Rule.from_document(document), uuid=uuid, name=uuid, status="active")


def sets(field: str) -> dict[str, Any]:
    return {"action_type": "PARAMETER_TRANSFORM", "action_detail": {"op": "set", "field": field, "value": 1}}


def switch(tool: str) -> dict[str, Any]:
    return {"action_type": "TOOL_SWITCH", "action_detail": {"tool": tool}}


BLOCK = {"action_type": "PRE_CALL_VALIDATION", "action_detail": {"on_failure": "block"}}
PARSE = {
    "action_type": "POST_CALL_PARSING_ADJUST",
    "action_detail": {"op": "set", "field": "seen", "value": True},
}
FIRST = {"action_type": "INSERT_STEP", "action_detail": {"tool": "find", "arguments": {}}}
HINT = {"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "Look at {{ input.city }}."}}


@pytest.mark.parametrize(
    ("provider", "dependent", "kinds"),
    [
        pytest.param(
            rule("a", sets("city")), rule("b", BLOCK, "input.city == 1"), ["field"], id="condition reads"
        ),
        pytest.param(rule("a", sets("city")), rule("b", HINT, point="before"), ["field"], id="action reads"),
        pytest.param(
            rule("a", sets("city.name")), rule("b", BLOCK, "input.city == 1"), ["field"], id="a part of it"
        ),
        pytest.param(
            rule("a", sets("city")), rule("b", BLOCK, "input.city.name == 1"), ["field"], id="its owner"
        ),
        pytest.param(
            rule("a", sets('["a.b"]')), rule("b", BLOCK, 'input["a.b"] == 1'), ["field"], id="quoted key"
        ),
        pytest.param(
            rule("a", sets("city")), rule("b", switch("other")), ["field"], id="reads the whole input"
        ),
        pytest.param(rule("a", sets("city")), rule("b", BLOCK, "input.town == 1"), [], id="another field"),
        pytest.param(
            rule("a", sets("city")), rule("b", BLOCK, "input.city == 1", tool="x"), [], id="another tool"
        ),
        pytest.param(
            rule("a", sets("city")), rule("b", BLOCK, "input.city == 1", tool="b*"), ["field"], id="pattern"
        ),
        pytest.param(
            rule("a", sets("city"), tool="*"), rule("b", BLOCK, "input.city == 1"), ["field"], id="any tool"
        ),
        pytest.param(
            rule("a", sets("city"), agent="x"),
            rule("b", BLOCK, "input.city == 1", agent="y"),
            [],
            id="two agents",
        ),
        pytest.param(
            rule("a", sets("city")),
            rule("b", sets("city"), "input.city == 1"),
            [],
            id="both write: a conflict",
        ),
        pytest.param(
            rule("a", sets("city")), rule("b", PARSE, "input.city == 1"), ["field"], id="before reaches after"
        ),
        pytest.param(rule("a", PARSE), rule("b", BLOCK, "input.seen == 1"), [], id="output is no input"),
        pytest.param(
            rule("a", sets("city")), rule("b", HINT, point="planning"), [], id="planning comes first"
        ),
        pytest.param(
            rule("a", switch("pay")), rule("b", BLOCK, tool="pay"), ["tool"], id="switch leads there"
        ),
        pytest.param(rule("a", FIRST), rule("b", BLOCK, tool="fi*"), ["tool"], id="step leads to a pattern"),
        pytest.param(rule("a", switch("pay")), rule("b", BLOCK, tool="*"), [], id="any tool needs no switch"),
        pytest.param(
            rule("a", switch("book2")), rule("b", BLOCK, tool="book*"), [], id="met by the call anyway"
        ),
    ],
)
def test_edges__two_rules__say_who_needs_whom(
    provider: RuleFacts, dependent: RuleFacts, kinds: list[str]
) -> None:
    assert [edge.kind for edge in edges_from(provider, [provider, dependent])] == kinds
    found = [edge for edge in dependency_graph([provider, dependent]).edges if edge.provider == "a"]
    assert [edge.kind for edge in found] == kinds


def test_graph__rules_that_need_one_another__are_a_circle() -> None:
    rules = [
        rule("a", sets("x"), "input.z == 1"),
        rule("b", sets("y"), "input.x == 1"),
        rule("c", sets("z"), "input.y == 1"),
        rule("d", BLOCK, "input.z == 1"),
        rule("e", BLOCK, "input.nothing == 1"),
    ]

    graph = dependency_graph(rules)

    assert graph.cycles == (("a", "b", "c"),)
    assert graph.in_cycle == {"a", "b", "c"}
    assert [one.uuid for one in graph.rules] == ["a", "b", "c", "d"]
    assert Dependency("c", "d", "field", ("input.z",)) in graph.edges


def test_graph__what_people_said__is_an_edge_and_can_close_a_circle() -> None:
    rules = [rule("a", sets("x")), rule("b", BLOCK, "input.x == 1")]
    said = [Manual("row", "b", "a", "the block sees it first"), Manual("gone", "zz", "a", "deleted")]

    graph = dependency_graph(rules, said)

    assert [edge.kind for edge in graph.edges] == ["manual", "field"]
    assert graph.edges[0].reason == "the block sees it first"
    assert graph.cycles == (("a", "b"),)


def test_graph__more_edges_than_anybody_reads__says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "MAX_EDGES", 3)
    rules = [rule("a", sets("x")), *(rule(f"b{n}", BLOCK, "input.x == 1") for n in range(4))]

    graph = dependency_graph(rules)

    assert len(graph.edges) == 3
    assert graph.left_out
