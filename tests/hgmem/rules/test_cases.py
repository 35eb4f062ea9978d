"""The shared decision cases of ``tests/cases/rules``."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from hgmem.rules import Decision, Rule, Ruleset

FOLDER = Path(__file__).parents[2] / "cases" / "rules"


def _load() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        topic = json.loads(path.read_text())
        for case in topic["cases"]:
            uuid = f"{path.stem}: {case['id']}"
            found.append(pytest.param(topic, case, id=uuid.replace("[", "(").replace("]", ")")))
    return found


CASES = _load()


@pytest.mark.parametrize(("topic", "case"), CASES)
def test_decide__shared_case__decides_as_expected(topic: dict[str, Any], case: dict[str, Any]) -> None:
    rules = [Rule.from_document(document) for document in topic["rules"]]
    chosen = [rule for rule in rules if rule.uuid in case.get("use", [rule.uuid])]
    context = case["context"]
    before = json.dumps(context)

    decision = Ruleset.compile(chosen, version="1").decide(
        context, now=datetime.fromisoformat(case.get("now", topic["now"])), explain=case.get("explain", False)
    )

    found = _summary(decision, context)
    if "conflicts" not in case["expect"]:
        del found["conflicts"]
    assert found == _expected(case)
    assert json.dumps(context) == before


def test_cases__the_folder__holds_at_least_150_distinct_cases() -> None:
    assert len({case.id for case in CASES}) == len(CASES) >= 150


def test_cases__every_rule_of_a_file__is_used_by_a_case() -> None:
    for path in FOLDER.glob("*.json"):
        topic = json.loads(path.read_text())
        uuids = {Rule.from_document(document).uuid for document in topic["rules"]}
        used = {uuid for case in topic["cases"] for uuid in case.get("use", uuids)}
        assert used == uuids, path.name


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    context = case["context"]
    tool = context.get("tool") or ""
    unchanged = {
        "tool": tool if isinstance(tool, str) else tool.get("name", ""),
        "input": context.get("input", {}),
        "block": {},
        "ask": {},
        "hints": [],
        "insert_steps": [],
        "after_call": {},
        "applied": [],
        "suppressed": {},
        "errors": [],
    }
    if context.get("point") == "after":
        unchanged |= {"output": context.get("output"), "error": context.get("error")}
    if case.get("explain"):
        unchanged["near_misses"] = {}
    return unchanged | case["expect"]


def _summary(decision: Decision, context: dict[str, Any]) -> dict[str, Any]:
    answer = decision.to_dict()
    summary = {
        "tool": answer["tool"],
        "input": answer["input"],
        "block": {verdict["rule"]: verdict["message"] for verdict in answer["block"]},
        "ask": {verdict["rule"]: verdict["message"] for verdict in answer["ask"]},
        "hints": [hint["text"] for hint in answer["hints"]],
        "insert_steps": [
            {"tool": step["tool"], "arguments": step["arguments"]} for step in answer["insert_steps"]
        ],
        "after_call": {entry["rule"]: entry.get("condition") for entry in answer["after_call"]},
        "applied": [entry["rule"] for entry in answer["applied"]],
        "suppressed": {entry["rule"]: entry["by"] for entry in answer["suppressed"]},
        "conflicts": [[entry["rule"], entry["other"], entry["field"]] for entry in answer["conflicts"]],
        "errors": sorted(failure["rule"] for failure in answer["errors"]),
    }
    if context.get("point") == "after":
        summary |= {"output": answer["output"], "error": answer["error"]}
    if "near_misses" in answer:
        summary["near_misses"] = {
            miss["rule"]: [part["part"] for part in miss["parts"] if part["holds"] is not True]
            for miss in answer["near_misses"]
        }
    return summary
