"""Guessed calls made to fit the schema of their tool, so that most questions need no solver."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator

_MAX_DEPTH = 6
_SIMPLEST: dict[str, Any] = {
    "string": "x", "integer": 1, "number": 1, "boolean": False, "null": None, "array": [], "object": {},
}  # fmt: skip


def fitted(call: dict[str, Any], schema: str) -> dict[str, Any] | None:
    """The call with the fields that ``schema`` (JSON text, "" for none) requires, each as simple as can be.

    None when it does not obey the schema even then, or when nobody can check that.
    """
    if not schema:
        return call
    law = _law(schema)
    if law is None:
        return None
    filled = {**call, "input": _filled(call.get("input") or {}, law.schema, 0)}
    return filled if law.is_valid(filled["input"]) else None


@lru_cache(maxsize=64)
def _law(schema: str) -> Validator | None:
    document = json.loads(schema)
    try:
        Draft202012Validator.check_schema(document)
    except SchemaError:
        return None
    return None if "$ref" in schema else Draft202012Validator(document)


def _filled(value: Any, schema: Any, depth: int) -> Any:
    if not isinstance(value, dict) or not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return value
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    filled = {name: _filled(inner, known.get(name), depth + 1) for name, inner in value.items()}
    for name in required if isinstance(required, list) else []:
        if name not in filled:
            filled[name] = _simplest(known.get(name), depth + 1)
    return filled


def _simplest(schema: Any, depth: int) -> Any:
    if not isinstance(schema, Mapping):
        return "x"
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    wanted = schema.get("type")
    kinds = wanted if isinstance(wanted, list) else [wanted]
    kind = next((one for one in kinds if one in _SIMPLEST and one != "null"), kinds[0] if kinds else None)
    if kind == "object":
        return _filled({}, schema, depth)
    if kind in ("integer", "number") and isinstance(schema.get("minimum"), int):
        return schema["minimum"]
    return _SIMPLEST.get(kind, "x") if isinstance(kind, str) else "x"
