"""A tool's JSON Schema as formulas: what a call's input looks like when it obeys.

Calls that break their schema are what many rules are for, so these are only wishes for an example.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import z3

from corrections.domain.conflicts.logic import Formula, all_of, any_of, both, implies
from corrections.domain.conflicts.places import BOOL, DOUBLE, INT, LIST, MAP, MISSING, NULL, TEXT, Place
from corrections.domain.conflicts.texts import UnsupportedError, constant

_KINDS: Final = {
    "null": (NULL,), "boolean": (BOOL,), "integer": (INT,), "number": (INT, DOUBLE), "string": (TEXT,),
    "array": (LIST,), "object": (MAP,),
}  # fmt: skip
_MAX_DEPTH: Final = 6


def obeyed(place: Place, schema: Any, depth: int = 0) -> Formula:
    """What a schema says of a place and of those below it. Keywords that are not known say nothing."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return True
    laws = [_typed(place, schema), _listed(place, schema), _bounded(place, schema)]
    required = schema.get("required")
    properties = schema.get("properties")
    for step, child in place.children.items():
        if isinstance(step, int):
            laws.append(implies(place.length > step, obeyed(child, schema.get("items"), depth + 1)))
            continue
        missing = child.holds(MISSING)
        if isinstance(required, list) and step in required:
            laws.append(implies(place.holds(MAP), implies(missing, False)))
        known = properties.get(step) if isinstance(properties, Mapping) else None
        if known is None and schema.get("additionalProperties") is False:
            laws.append(missing)
        elif known is not None:
            laws.append(any_of((missing, obeyed(child, known, depth + 1))))
    return all_of(laws)


def _typed(place: Place, schema: Mapping[str, Any]) -> Formula:
    wanted = schema.get("type")
    names: list[Any] = wanted if isinstance(wanted, list) else [wanted]
    kinds = [_KINDS.get(name) if isinstance(name, str) else None for name in names]
    if None in kinds:
        return True
    return any_of(place.holds(kind) for some in kinds for kind in some or ())


def _listed(place: Place, schema: Mapping[str, Any]) -> Formula:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return True
    return any_of(_is(place, value) for value in values)


def _is(place: Place, value: Any) -> Formula:
    if value is None:
        return place.holds(NULL)
    if isinstance(value, bool):
        return both(place.holds(BOOL), place.flag == value)
    if isinstance(value, int):
        return both(place.holds(INT), place.whole == value)
    if isinstance(value, str):
        try:
            return both(place.holds(TEXT), place.text == constant(value))
        except UnsupportedError:
            return False
    return False


def _bounded(place: Place, schema: Mapping[str, Any]) -> Formula:
    laws: list[Formula] = []
    for word, compare in _BOUNDS.items():
        bound = schema.get(word)
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            continue
        exact = Fraction(bound)
        if word in ("minLength", "maxLength"):
            laws.append(implies(place.holds(TEXT), compare(z3.Length(place.text), int(bound))))
        elif word in ("minItems", "maxItems"):
            laws.append(implies(place.holds(LIST), compare(place.length, int(bound))))
        else:
            laws.append(implies(place.holds(INT), compare(z3.ToReal(place.whole), z3.RealVal(exact))))
            laws.append(implies(place.holds(DOUBLE), compare(place.real, z3.RealVal(exact))))
    return all_of(laws)


_BOUNDS: Final[dict[str, Any]] = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
    "minLength": lambda value, bound: value >= bound,
    "maxLength": lambda value, bound: value <= bound,
    "minItems": lambda value, bound: value >= bound,
    "maxItems": lambda value, bound: value <= bound,
}
