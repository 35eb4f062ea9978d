"""Path documents from outside: what is accepted, and which field is named when not."""

from typing import Any

import msgspec
import pytest

from memory.domain.paths.checking import InvalidPathError, read_path_document, write_path_document
from memory.domain.paths.document import EdgeDoc
from memory.domain.paths.starters import STARTERS

NODES = [{"name": "find", "tool": "find"}, {"name": "book", "tool": "book"}]


def document(**fields: Any) -> dict[str, Any]:
    return {"goal": "Book", "nodes": NODES, **fields}


def part(**fields: Any) -> dict[str, Any]:
    return {"goal": "find it", "nodes": NODES[:1], "level": "subtask", "span": [0, 0], **fields}


def met(moment: str) -> dict[str, Any]:
    return document(nodes=[{**NODES[0], "occurred_at": moment}])


def test_read__no_edges__walks_the_nodes_in_order() -> None:
    assert read_path_document(document()).edges == (EdgeDoc(source="find", target="book"),)


@pytest.mark.parametrize("name", STARTERS)
def test_read__starter_written_as_json__is_the_same(name: str) -> None:
    encoded = msgspec.json.encode(write_path_document(STARTERS[name]))

    doc = read_path_document(msgspec.json.decode(encoded))

    assert doc == STARTERS[name]
    assert (doc.result, doc.reward) == ("template", 0.0)
    assert any(ord(letter) > 0x3000 for letter in doc.goal)


@pytest.mark.parametrize(
    ("value", "field", "said"),
    [
        pytest.param([], "", "A path is a JSON object", id="no object"),
        pytest.param({}, "goal", "required", id="empty"),
        pytest.param(document(goal=" "), "goal", "what the path is for", id="no goal"),
        pytest.param(document(color="red"), "color", "not known", id="unknown field"),
        pytest.param(
            document(nodes=[{"name": "a", "tool": "a", "x": 1}]), "nodes.0.x", "not known", id="deep"
        ),
        pytest.param(document(nodes=[]), "nodes", "1 to 500", id="no nodes"),
        pytest.param(document(nodes=[NODES[0]] * 2), "nodes.1.name", "used twice", id="name twice"),
        pytest.param(document(nodes=[{"name": "a"}]), "nodes.0.tool", "needs a tool", id="empty action"),
        pytest.param(
            document(nodes=[{"name": "a", "kind": "event"}]), "nodes.0.content", "event", id="no words"
        ),
        pytest.param(
            document(nodes=[{"name": "a", "kind": "thing"}]), "nodes.0.kind", "Invalid enum", id="kind"
        ),
        pytest.param(
            document(edges=[{"from": "find", "to": "pay"}]), "edges.0.to", "no node 'pay'", id="edge"
        ),
        pytest.param(
            document(edges=[{"from": "find", "to": "find"}]), "nodes.1", "No edges lead", id="island"
        ),
        pytest.param(
            document(edges=[{"from": "find", "to": "book"}] * 2), "edges.1", "comes twice", id="edge twice"
        ),
        pytest.param(document(reward=2), "reward", "between 0 and 1", id="reward"),
        pytest.param(document(result="template", reward=0.5), "reward", "worth 0", id="template-with-reward"),
        pytest.param(document(tags=["a", "a"]), "tags", "each once", id="tag twice"),
        pytest.param(document(span=[0, 1]), "span", "Only a part", id="span of a whole"),
        pytest.param(document(parts=[part(span=[0, 5])]), "parts.0.span", "nodes 0 to 1", id="span outside"),
        pytest.param(
            document(parts=[part(span=[1, 1])]), "parts.0.nodes", "nodes of its span", id="other nodes"
        ),
        pytest.param(document(parts=[part(level="task")]), "parts.0.level", "lower level", id="level"),
        pytest.param(document(env={"a": "x" * 40_000}), "env", "bytes as JSON", id="too much"),
        pytest.param(
            document(parts=[part(parts=[part(level="tool")] * 50)] * 50), "parts", "2,000", id="tower"
        ),
        pytest.param(met("2026-01-02T03:04:05"), "nodes.0.occurred_at", "time zone", id="no time zone"),
        pytest.param(met("0001-01-01T00:00:00+14:00"), "nodes.0.occurred_at", "years 2", id="before time"),
        pytest.param(met("9999-12-31T23:59:59-14:00"), "nodes.0.occurred_at", "9998", id="after time"),
    ],
)
def test_read__wrong__names_the_field(value: Any, field: str, said: str) -> None:
    with pytest.raises(InvalidPathError) as error:
        read_path_document(value)

    assert error.value.errors[0].field == field
    assert said in error.value.errors[0].detail


def test_read__endless_nesting__is_refused() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]

    with pytest.raises(InvalidPathError, match="levels deep"):
        read_path_document(document(env={"a": deep}))


def test_read__many_errors__are_all_named() -> None:
    with pytest.raises(InvalidPathError) as error:
        read_path_document(document(goal="", reward=9, tags=[""]))

    assert [one.field for one in error.value.errors] == ["goal", "reward", "tags.0"]
