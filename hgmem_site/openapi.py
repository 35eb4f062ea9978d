"""Finishing the OpenAPI file: what is true of every operation is said once."""

from typing import Any

ERROR = {"$ref": "#/components/schemas/ErrorAnswer"}
ANY_OR_NULL = [{}, {"type": "null"}]


def say_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Every operation may answer with the one error shape (401, 403, 429...)."""
    answer = {"description": "Any error.", "content": {"application/json": {"schema": ERROR}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"].setdefault("default", answer)
    return result


def allow_null_once(result: Any, **_: Any) -> Any:
    """Any JSON value includes null: saying "any value or else null" would refuse it as ambiguous."""
    if isinstance(result, dict):
        if result.get("oneOf") == ANY_OR_NULL:
            del result["oneOf"]
        for inner in result.values():
            allow_null_once(inner)
    elif isinstance(result, list):
        for inner in result:
            allow_null_once(inner)
    return result
