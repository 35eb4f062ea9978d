"""Validators: what passes, what fails silently, what cannot be judged, and what is refused."""

import json
from typing import Any, Literal

import pytest

from memory.domain.failures import CallSnapshot
from memory.domain.validators import InvalidValidatorError, ValidatorSpec, compile_validator


def schema(source: Any, target: Literal["input", "output"] = "output") -> ValidatorSpec:
    return ValidatorSpec(name="v", kind="schema", source=json.dumps(source), target=target)


def cel(source: str) -> ValidatorSpec:
    return ValidatorSpec(name="v", kind="cel", source=source)


ID_MATCHES = cel("output.id == input.id")
HOSTILE = schema({"type": "string", "pattern": "^(a+)+$"})
NAMED = schema({"patternProperties": {"^n": {"type": "integer"}}})
USER = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("spec", "call", "verdict"),
    [
        pytest.param(schema(USER), {"output": {"id": 1}}, "passed", id="schema-passes"),
        pytest.param(schema(USER), {"output": {"name": "n"}}, "failed", id="schema-fails"),
        pytest.param(schema(USER), {"output": '{"id": 1}'}, "passed", id="json-text-is-read"),
        pytest.param(schema(USER), {"output": "plain"}, "failed", id="plain-text-is-no-object"),
        pytest.param(schema({"type": "string"}), {"output": '{"id": 1}'}, "passed", id="text-wanted-as-text"),
        pytest.param(schema({"required": ["q"]}, "input"), {"input": {}}, "failed", id="input"),
        pytest.param(schema({"pattern": "^a+$"}), {"output": "aaa"}, "passed", id="pattern-passes"),
        pytest.param(
            schema({"type": "string", "pattern": "^(a+)+$"}),
            {"output": "a" * 5_000 + "b"},
            "failed",
            id="hostile-pattern",
        ),
        pytest.param(
            schema({"patternProperties": {"^n": {"type": "integer"}}}),
            {"output": {"n1": "x"}},
            "failed",
            id="pattern-properties",
        ),
        pytest.param(schema({"$ref": "#/$defs/x"}), {"output": 1}, "error", id="reference-to-nothing"),
        pytest.param(schema({"$ref": "#"}), {"output": 1}, "error", id="endless-reference"),
        pytest.param(schema({}), {"output": "x" * 2_000_000}, "skipped", id="too-large"),
        pytest.param(ID_MATCHES, {"input": {"id": 1}, "output": {"id": 1}}, "passed", id="cel-passes"),
        pytest.param(
            cel("output.id == input.id"),
            {"input": {"id": 1}, "output": '{"id": 2}'},
            "failed",
            id="cel-fails",
        ),
        pytest.param(cel("output.name != null"), {"output": {}}, "failed", id="cel-missing-is-null"),
        pytest.param(cel("size(output.n) > 1"), {"output": {"n": 5}}, "error", id="cel-cannot-be-evaluated"),
    ],
)
def test_validator__call__gets_its_verdict(spec: ValidatorSpec, call: dict[str, Any], verdict: str) -> None:
    validator = compile_validator(spec)
    snapshot = CallSnapshot(tool="t", **call)

    checked = validator.check(snapshot)

    assert checked.verdict == verdict
    assert (validator.failure(checked) is not None) == (verdict == "failed")


def test_failure__schema_fails__names_the_place() -> None:
    validator = compile_validator(schema(USER))
    finding = validator.failure(validator.check(CallSnapshot(tool="t", output={"id": "x"})))

    assert finding is not None
    assert (finding.kind, finding.error_type) == ("validation", "ValidationError")
    assert finding.message == "Validator 'v': output.id: 'x' is not of type 'integer'"


def test_find__own_message__is_used() -> None:
    spec = ValidatorSpec(name="v", kind="cel", source="output == 1", message="One is wanted.")

    validator = compile_validator(spec)
    finding = validator.failure(validator.check(CallSnapshot(tool="t", output=2)))

    assert finding is not None
    assert finding.message == "One is wanted."


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        pytest.param(ValidatorSpec("v", "schema", "{"), "Not JSON", id="not-json"),
        pytest.param(schema({"type": "nope"}), "Not a JSON Schema", id="not-a-schema"),
        pytest.param(schema({"$ref": "https://example.org/s"}), "inside the schema", id="outside-reference"),
        pytest.param(schema({"pattern": "(?=a)"}), "RE2", id="look-ahead"),
        pytest.param(schema({"description": "x" * 70_000}), "bytes", id="too-large"),
        pytest.param(cel("output.("), "Syntax", id="cel-syntax"),
        pytest.param(cel("1 + 1"), "true or false", id="cel-no-question"),
    ],
)
def test_compile_validator__unusable__is_refused_with_the_reason(spec: ValidatorSpec, reason: str) -> None:
    with pytest.raises(InvalidValidatorError, match=reason):
        compile_validator(spec)


def test_schema__would_take_for_ever__is_an_error_not_a_hang() -> None:
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    source = json.dumps({"$defs": {**steps, "d30": {}}, "$ref": "#/$defs/d0"})
    validator = compile_validator(ValidatorSpec(name="bomb", kind="schema", source=source))

    checked = validator.check(CallSnapshot(tool="t", input={}, output={"a": 1}))

    assert checked.verdict == "error"
    assert "takes too long" in checked.detail
