"""Paths for other programs: GraphML for graph tools, DOT for drawing, nodes and edges for a page."""

import io
import re
from typing import Any

import msgspec
import networkx as nx

from memory.domain.paths.document import NodeDoc, PathDoc

_encode = msgspec.json.Encoder(enc_hook=str).encode
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SHAPES = {"action": "box", "decision": "diamond", "event": "octagon", "entity": "ellipse"}
LABEL = 120


def as_graph(doc: PathDoc) -> dict[str, Any]:
    """``{nodes, edges}`` with everything a drawing needs; node ids are the names, positions count from 0."""
    return {
        "nodes": [
            {
                "id": node.name, "position": place, "kind": node.kind, "label": label_of(node),
                "tool": node.tool, "params": node.params, "observation": node.observation,
                "details": node.details,
            }
            for place, node in enumerate(doc.nodes)
        ],
        "edges": [
            {"from": edge.source, "to": edge.target, "condition": edge.condition, "label": edge.label}
            for edge in doc.edges
        ],
    }  # fmt: skip


def as_graphml(doc: PathDoc) -> str:
    """GraphML (http://graphml.graphdrawing.org) with the content of nodes and edges as attributes."""
    graph = nx.MultiDiGraph(goal=_plain(doc.goal), result=doc.result, reward=doc.reward, level=doc.level)
    for place, node in enumerate(doc.nodes):
        graph.add_node(
            _plain(node.name), position=place, kind=node.kind, content=_plain(node.content),
            tool=_plain(node.tool), params=_json(node.params), observation=_json(node.observation),
            details=_json(node.details),
        )  # fmt: skip
    for place, edge in enumerate(doc.edges):
        graph.add_edge(
            _plain(edge.source), _plain(edge.target), key=str(place), position=place,
            condition=_plain(edge.condition), label=_plain(edge.label),
        )  # fmt: skip
    buffer = io.BytesIO()
    nx.write_graphml_xml(graph, buffer, encoding="utf-8")
    return buffer.getvalue().decode()


def as_dot(doc: PathDoc) -> str:
    """The DOT language of Graphviz, left to right; kinds by shape."""
    lines = ["digraph path {", "  rankdir=LR;", f"  label={_quoted(doc.goal)};"]
    for node in doc.nodes:
        shape = _SHAPES[node.kind]
        lines.append(f"  {_quoted(node.name)} [label={_quoted(label_of(node))}, shape={shape}];")
    for edge in doc.edges:
        said = " / ".join(text for text in (edge.label, edge.condition) if text)
        label = f" [label={_quoted(said)}]" if said else ""
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{label};")
    return "\n".join([*lines, "}", ""])


def label_of(node: NodeDoc) -> str:
    """What a node is called in a drawing: its content, or its tool with the values of its params."""
    text = node.content or (f"{node.tool}({_values(node)})" if node.tool else node.name)
    text = " ".join(text.split())
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def _values(node: NodeDoc) -> str:
    return ", ".join(
        value if isinstance(value, str) else _encode(value).decode() for value in node.params.values()
    )


def _json(value: Any) -> str:
    return "" if value is None or value == {} else _plain(_encode(value).decode())


def _plain(text: str) -> str:
    """What XML can hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def _quoted(text: str) -> str:
    """A DOT string. Only a quote and a backslash mean anything in it."""
    text = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + " ".join(text.split()) + '"'
