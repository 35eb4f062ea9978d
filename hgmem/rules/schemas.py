"""JSON Schema as a check of inputs and outputs: bounded, and without any network."""

import json
from functools import lru_cache
from typing import Any, Final

from hgmem.rules.regexes import simple_pattern

_MAX_SCHEMA_CHARS: Final = 50_000
_MAX_SCHEMA_DEPTH: Final = 40


def check_schema(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """Accept a schema (draft 2020-12).

    Raises:
        ValueError: it is no schema, is too large, points outside itself or holds an unsafe pattern.
    """
    if schema is None:
        return None
    if len(json.dumps(schema)) > _MAX_SCHEMA_CHARS:
        raise ValueError(f"has more than {_MAX_SCHEMA_CHARS} characters")
    _check_part(schema, 0)
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"is no JSON Schema: {error.message}"[:500]) from None
    return schema


def schema_fault(schema: dict[str, Any], document: Any) -> str | None:
    """A sentence about the first thing in a document that does not fit, or None when all does.

    Raises:
        ValueError: the schema cannot be applied (a reference to nothing, or one that never ends).
    """
    validator = _validator(json.dumps(schema, sort_keys=True))
    try:
        error = next(iter(validator.iter_errors(document)), None)
    except Exception as fault:  # the library has no common base for reference and recursion errors
        raise ValueError(f"the schema could not be applied: {type(fault).__name__}") from None
    if error is None:
        return None
    return f"{error.json_path.removeprefix('$').removeprefix('.') or 'the input'}: {error.message}"[:500]


@lru_cache(maxsize=1_024)
def _validator(text: str) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(json.loads(text), registry=Registry())


def _check_part(part: Any, depth: int) -> None:
    if depth > _MAX_SCHEMA_DEPTH:
        raise ValueError(f"is nested deeper than {_MAX_SCHEMA_DEPTH}")
    if isinstance(part, list):
        for item in part:
            _check_part(item, depth + 1)
    if not isinstance(part, dict):
        return
    for key, value in part.items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
            raise ValueError("references outside the schema are not allowed")
        patterns = [value] if key == "pattern" else value if key == "patternProperties" else ()
        for pattern in patterns if isinstance(patterns, list | dict) else ():
            if isinstance(pattern, str) and simple_pattern(pattern) is None:
                raise ValueError(f"the pattern {pattern!r} is not in the safe subset")
        _check_part(value, depth + 1)
