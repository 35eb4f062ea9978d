"""JSON Schema as a check of inputs and outputs: bounded, and without any network."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final

from hgmem.rules.limits import MAX_SCHEMA_WORK
from hgmem.rules.regexes import has_open_repeat, simple_pattern

_MAX_SCHEMA_CHARS: Final = 50_000
_MAX_SCHEMA_DEPTH: Final = 40
REFERENCE_WORK: Final = 10
MAX_SEARCHED_CHARS: Final = 4_000
"""Longer texts are not searched with a pattern whose time may be quadratic."""
_left: ContextVar[list[int] | None] = ContextVar("references_left", default=None)


class SchemaWorkError(ValueError):
    """Checking a document would take too long."""


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
        with bounded_work(MAX_SCHEMA_WORK):
            error = next(iter(validator.iter_errors(document)), None)
    except SchemaWorkError as excess:
        raise ValueError(str(excess)) from None
    except Exception as fault:  # the library has no common base for reference and recursion errors
        raise ValueError(f"the schema could not be applied: {type(fault).__name__}") from None
    if error is None:
        return None
    return f"{error.json_path.removeprefix('$').removeprefix('.') or 'the input'}: {error.message}"[:500]


@lru_cache(maxsize=1_024)
def _validator(text: str) -> Any:
    from referencing import Registry

    return _validator_class()(json.loads(text), registry=Registry())


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    """Draft 2020-12 with the keywords that could run away replaced by bounded ones."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    patterns = {"pattern": _pattern, "patternProperties": _pattern_properties}
    return extend(Draft202012Validator, bounded_keywords() | patterns)  # type: ignore[no-untyped-call]


def bounded_keywords() -> dict[str, Any]:
    """References that count what they cost (inside ``bounded_work``), and a ``uniqueItems`` without pairs."""
    references = {name: _reference(name) for name in ("$ref", "$dynamicRef")}
    return {**references, "uniqueItems": _unique_items}


@contextmanager
def bounded_work(most: int) -> Iterator[None]:
    """Let what is checked inside spend ``most``, then raise SchemaWorkError. See ``spend``."""
    token = _left.set([most])
    try:
        yield
    finally:
        _left.reset(token)


def _reference(keyword: str) -> Callable[..., Any]:
    from jsonschema import Draft202012Validator

    follow = Draft202012Validator.VALIDATORS[keyword]

    def bounded(validator: Any, target: Any, instance: Any, schema: Any) -> Any:
        spend(instance)
        return follow(validator, target, instance, schema)

    return bounded


def spend(instance: Any) -> None:
    """Charge one reference: REFERENCE_WORK, and the size of what it is applied to (errors print it).

    Raises:
        SchemaWorkError: nothing is left to spend.
    """
    left = _left.get()
    if left is None:
        return
    left[0] -= REFERENCE_WORK
    waiting = [instance]
    while waiting and left[0] >= 0:
        value = waiting.pop()
        if isinstance(value, dict | list):
            left[0] -= len(value)
            waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, str):
            left[0] -= len(value) // 20
    if left[0] < 0:
        raise SchemaWorkError("following the schema's references takes too long on this document")


def _found(pattern: str, text: str) -> bool:
    """Search with a pattern of the safe subset. Raises SchemaWorkError when the text is too long for it."""
    compiled = simple_pattern(pattern)
    if compiled is None or (len(text) > MAX_SEARCHED_CHARS and has_open_repeat(pattern)):
        raise SchemaWorkError(f"a text is too long for the pattern {pattern[:100]!r}")
    return compiled.search(text) is not None


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance[:100]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, part in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len(set(map(_canonical, instance))) < len(instance):
        yield ValidationError("the list has items that are the same")


def _canonical(value: Any) -> str:
    """Equal values give equal texts: 1 and 1.0 are the same number to JSON Schema."""
    return json.dumps(_plain_numbers(value), sort_keys=True)


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain_numbers(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain_numbers(part) for name, part in value.items()}
    return value


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
