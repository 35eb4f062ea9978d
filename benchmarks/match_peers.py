"""The other engines of ``match``. Each is given only the rules of the tool asked about.

A peer is a function from a context to the number of rules that match; ``peers`` returns the ones
that are installed, and a word about those that are not.
"""

import json
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

from benchmarks.match_workload import ALL_FIELDS, Spec, to_cel

Matcher = Callable[[dict[str, Any]], int]

PACKAGES = {"zen-engine": "zen", "growthbook": "growthbook", "flagsmith-flag-engine": "flag_engine"}


def peers(specs: Iterable[Spec]) -> dict[str, Matcher | str]:
    """Name to matcher, or to why there is none."""
    by_tool: dict[str, list[Spec]] = {}
    for spec in specs:
        by_tool.setdefault(spec.tool, []).append(spec)
    found: dict[str, Matcher | str] = {"linear cel-expr-python": _linear_cel(by_tool)}
    for package, module in PACKAGES.items():
        if find_spec(module) is None:
            found[package] = "not installed (the bench extra brings it)"
        else:
            found[package] = _BUILDERS[package](by_tool)
    return found


def _linear_cel(by_tool: dict[str, list[Spec]]) -> Matcher:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_strings

    env = cel.NewEnv(
        variables={"input": cel.Type.DYN, "task": cel.Type.DYN}, extensions=[ext_strings.ExtStrings()]
    )
    compiled = {tool: [env.compile(to_cel(spec)) for spec in some] for tool, some in by_tool.items()}
    no_fields = dict.fromkeys(ALL_FIELDS)

    def match(context: dict[str, Any]) -> int:
        data = {"input": {**no_fields, **context["input"]}, "task": context["task"]}
        activation = env.Activation(data)
        return sum(
            expression.eval(activation).value() is True for expression in compiled[context["tool"]["name"]]
        )

    return match


def _zen(by_tool: dict[str, list[Spec]]) -> Matcher:
    import zen

    engine = zen.ZenEngine()
    decisions = {tool: engine.create_decision(json.dumps(_zen_table(some))) for tool, some in by_tool.items()}

    def match(context: dict[str, Any]) -> int:
        facts = {**context["input"], "tags": context["task"]["tags"]}
        result = decisions[context["tool"]["name"]].evaluate(facts)["result"]
        return len(result) if isinstance(result, list) else 0

    return match


_ZEN = {
    "eq": json.dumps,
    "in": lambda v: ", ".join(map(json.dumps, v)),
    "empty": lambda v: '$ == null or $ == ""',
    "present": lambda v: "$ != null",
    "prefix": lambda v: f"$ != null and startsWith($, {json.dumps(v)})",
    "contains": lambda v: f"$ != null and contains($, {json.dumps(v)})",
    "regex": lambda v: f"$ != null and matches($, {json.dumps(v)})",
    "longer": lambda v: f"$ != null and len($) > {v}",
    "gt": lambda v: f"$ != null and $ > {v}",
    "lt": lambda v: f"$ != null and $ < {v}",
    "tag": lambda v: f"contains($, {json.dumps(v)})",
}


def _zen_table(specs: list[Spec]) -> dict[str, Any]:
    columns = (*ALL_FIELDS, "tags")
    rules = []
    for spec in specs:
        row = {"_id": spec.uuid, "out": json.dumps(spec.uuid), **dict.fromkeys(columns, "")}
        for operator, field, value in spec.parts:
            cell, column = _ZEN[operator](value), field or "tags"
            row[column] = f"{row[column]} and {cell}" if row[column] else cell
        rules.append(row)
    table = {
        "hitPolicy": "collect",
        "inputs": [{"id": column, "name": column, "field": column} for column in columns],
        "outputs": [{"id": "out", "name": "rule", "field": "rule"}],
        "rules": rules,
    }
    nodes = [
        {"id": "in", "name": "in", "type": "inputNode"},
        {"id": "table", "name": "table", "type": "decisionTableNode", "content": table},
        {"id": "end", "name": "end", "type": "outputNode"},
    ]
    edges = [
        {"id": "e1", "type": "edge", "sourceId": "in", "targetId": "table"},
        {"id": "e2", "type": "edge", "sourceId": "table", "targetId": "end"},
    ]
    return {"nodes": nodes, "edges": edges}


def _growthbook(by_tool: dict[str, list[Spec]]) -> Matcher:
    from growthbook.core import evalCondition

    compiled = {tool: [_mongo(spec) for spec in some] for tool, some in by_tool.items()}

    def match(context: dict[str, Any]) -> int:
        attributes = {**context["input"], "tags": context["task"]["tags"]}
        return sum(evalCondition(attributes, condition) for condition in compiled[context["tool"]["name"]])

    return match


_MONGO = {
    "eq": lambda v: {"$eq": v},
    "in": lambda v: {"$in": v},
    "empty": lambda v: {"$in": [None, ""]},
    "present": lambda v: {"$ne": None},
    "prefix": lambda v: {"$regex": f"^{v}"},
    "contains": lambda v: {"$regex": v},
    "regex": lambda v: {"$regex": v},
    "longer": lambda v: {"$regex": f".{{{v + 1}}}"},
    "gt": lambda v: {"$gt": v},
    "lt": lambda v: {"$lt": v},
    "tag": lambda v: {"$elemMatch": {"$eq": v}},
}


def _mongo(spec: Spec) -> dict[str, Any]:
    condition: dict[str, Any] = {}
    for operator, field, value in spec.parts:
        condition.setdefault(field or "tags", {}).update(_MONGO[operator](value))
    return condition


def _flagsmith(by_tool: dict[str, list[Spec]]) -> Matcher:
    from flag_engine.engine import get_evaluation_result

    segments = {
        tool: {spec.uuid: {"key": spec.uuid, "name": spec.uuid, "rules": [_segment(spec)]} for spec in some}
        for tool, some in by_tool.items()
    }

    def match(context: dict[str, Any]) -> int:
        traits = {name: value for name, value in context["input"].items() if isinstance(value, str | int)}
        traits["tags"] = ",".join(context["task"]["tags"])
        identity = {"identifier": "agent", "key": "agent", "traits": traits}
        question = {
            "environment": {"key": "bench", "name": "bench"},
            "identity": identity,
            "segments": segments[context["tool"]["name"]],
            "features": {},
        }
        return len(get_evaluation_result(question)["segments"])

    return match


_FLAGSMITH = {
    "eq": ("EQUAL", str),
    "in": ("IN", ",".join),
    "empty": ("IS_NOT_SET", str),
    "present": ("IS_SET", str),
    "prefix": ("REGEX", lambda v: f"^{v}"),
    "contains": ("CONTAINS", str),
    "regex": ("REGEX", str),
    "longer": ("REGEX", lambda v: f".{{{v + 1}}}"),
    "gt": ("GREATER_THAN", str),
    "lt": ("LESS_THAN", str),
    "tag": ("CONTAINS", str),
}


def _segment(spec: Spec) -> dict[str, Any]:
    conditions = []
    for operator, field, value in spec.parts:
        name, render = _FLAGSMITH[operator]
        conditions.append({"property": field or "tags", "operator": name, "value": render(value)})
    return {"type": "ALL", "conditions": conditions}


_BUILDERS = {"zen-engine": _zen, "growthbook": _growthbook, "flagsmith-flag-engine": _flagsmith}
