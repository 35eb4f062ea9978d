"""Validators: what a call that "worked" must still satisfy, or it failed silently.

Two kinds: a JSON Schema (2020-12) for the input or the output, and a CEL condition over both that must
be true. A validator that cannot be evaluated says so; that is neither a pass nor a failure.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import jsonschema
import msgspec
import re2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from hgmem.rules.conditions import Condition
from hgmem.rules.errors import EvaluationFailure, RuleError
from hgmem.rules.schemas import bounded_keywords, bounded_work
from memory.domain.failures import CallSnapshot, FailureFinding

MAX_SCHEMA_BYTES = 64 * 1024
MAX_VALUE_BYTES = 1024 * 1024
MAX_SCHEMA_WORK = 500_000
MAX_MESSAGE = 500

Verdict = Literal["passed", "failed", "skipped", "error"]


class InvalidValidatorError(ValueError):
    """A validator that cannot be used, with the reason."""


class ValidatorSpec(msgspec.Struct, frozen=True):
    """A validator as stored: JSON text of a schema over ``target``, or a CEL condition over both."""

    name: str
    kind: Literal["schema", "cel"]
    source: str
    target: Literal["input", "output"] = "output"
    message: str = ""


class Checked(msgspec.Struct, frozen=True):
    """The verdict on one call; ``detail`` says why it failed or could not be evaluated."""

    verdict: Verdict
    detail: str = ""


class CompiledValidator(msgspec.Struct, frozen=True):
    """A validator ready to check calls; build it with ``compile_validator``."""

    spec: ValidatorSpec
    run: Callable[[CallSnapshot], Checked]

    def check(self, call: CallSnapshot) -> Checked:
        """Check one call. Never raises: what cannot be evaluated is the verdict ``error``."""
        return self.run(call)

    def failure(self, checked: Checked) -> FailureFinding | None:
        """The silent failure behind an answer of :meth:`check`, None unless the call failed."""
        if checked.verdict != "failed":
            return None
        said = self.spec.message or f"Validator '{self.spec.name}': {checked.detail}"
        return FailureFinding(kind="validation", error_type="ValidationError", message=said)


def compile_validator(spec: ValidatorSpec) -> CompiledValidator:
    """Prepare a validator.

    Raises InvalidValidatorError: not JSON, not a schema, a reference to elsewhere, an expression that is
    not RE2, or a condition that does not compile.
    """
    return CompiledValidator(spec, _schema_check(spec) if spec.kind == "schema" else _condition_check(spec))


def _condition_check(spec: ValidatorSpec) -> Callable[[CallSnapshot], Checked]:
    try:
        condition = Condition.compile(spec.source)
    except RuleError as error:
        raise InvalidValidatorError(str(error)) from error

    def run(call: CallSnapshot) -> Checked:
        variables = {"tool": {"name": call.tool}, "input": call.input, "output": _readable(call.output)}
        answer = condition.evaluate(variables)
        if isinstance(answer, EvaluationFailure):
            return Checked("error", answer.detail[:MAX_MESSAGE])
        return (
            Checked("passed")
            if answer is True
            else Checked("failed", f"not true: {spec.source}"[:MAX_MESSAGE])
        )

    return run


def _schema_check(spec: ValidatorSpec) -> Callable[[CallSnapshot], Checked]:
    schema = _read_schema(spec.source)
    validator = _Validator(schema, registry=Registry())
    takes_text = isinstance(schema, dict) and "string" in _listed(schema.get("type"))

    def run(call: CallSnapshot) -> Checked:
        value = call.input if spec.target == "input" else call.output
        if isinstance(value, str) and not takes_text:
            value = _readable(value)
        if len(msgspec.json.encode(value)) > MAX_VALUE_BYTES:
            return Checked("skipped", f"The {spec.target} is larger than {MAX_VALUE_BYTES} bytes.")
        try:
            with bounded_work(MAX_SCHEMA_WORK):
                error = jsonschema.exceptions.best_match(validator.iter_errors(value))
        except (Unresolvable, RecursionError, ValueError, TypeError) as problem:
            return Checked("error", f"{type(problem).__name__}: {problem}"[:MAX_MESSAGE])
        return Checked("failed", _sentence(spec.target, error)) if error else Checked("passed")

    return run


def _readable(output: Any) -> Any:
    """A tool's text that is a JSON document is judged as the document."""
    if isinstance(output, str) and output.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(output)
        except (msgspec.DecodeError, RecursionError):
            return output
    return output


def _read_schema(source: str) -> Any:
    if len(source.encode(errors="replace")) > MAX_SCHEMA_BYTES:
        raise InvalidValidatorError(f"A schema has at most {MAX_SCHEMA_BYTES} bytes.")
    try:
        schema = msgspec.json.decode(source)
        Draft202012Validator.check_schema(schema)
        _check_parts(schema)
    except SchemaError as error:
        raise InvalidValidatorError(
            f"Not a JSON Schema: {error.json_path}: {error.message}"[:MAX_MESSAGE]
        ) from error
    except RecursionError as error:
        raise InvalidValidatorError("The schema is nested too deeply.") from error
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise InvalidValidatorError(f"Not JSON: {error}.") from error
    return schema


def _check_parts(schema: Any) -> None:
    """References stay inside, and expressions are RE2: no schema reaches out or runs away."""
    if isinstance(schema, list):
        for item in schema:
            _check_parts(item)
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
            raise InvalidValidatorError(f"References must stay inside the schema: {value[:100]}")
        if name == "pattern" and isinstance(value, str):
            _expression(value)
        if name == "patternProperties" and isinstance(value, dict):
            for source in value:
                _expression(source)
        _check_parts(value)


def _expression(source: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(source, options)
    except re2.error as error:
        raise InvalidValidatorError(f"Not an RE2 expression: {source[:100]}: {error}") from error


def _pattern(_: Any, source: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _expression(source).search(instance):
        yield ValidationError(f"{instance[:100]!r} does not match {source[:100]!r}")


def _pattern_properties(validator: Any, given: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for source, schema in given.items():
        expression = _expression(source)
        for name, value in instance.items():
            if expression.search(name):
                yield from validator.descend(value, schema, path=name, schema_path=source)


_Validator: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    bounded_keywords() | {"pattern": _pattern, "patternProperties": _pattern_properties},
)


def _listed(kind: Any) -> list[Any]:
    return kind if isinstance(kind, list) else [kind]


def _sentence(target: str, error: ValidationError) -> str:
    path = ".".join([target, *(str(part) for part in error.absolute_path)])
    return f"{path}: {error.message}"[:MAX_MESSAGE]
