"""What a tool's input looks like, learnt from the calls that worked.

A schema is a subset of JSON Schema 2020-12: ``type`` (one or a list), ``properties``, ``required``,
``items``, ``additionalProperties`` (for objects used as maps). A few short strings seen for a field are
kept as ``examples``; they are annotation, not shape, and do not enter the hash.

Observing only ever widens. A field is ``required`` while every observed call had it. Calls that failed
teach nothing: their input may be just what was wrong.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

Schema = dict[str, Any]

MAX_DEPTH = 8
MAX_PROPERTIES = 100
MAX_ITEMS = 100
MAX_EXAMPLES = 8
MAX_EXAMPLE_CHARS = 40
SETTLED_AFTER = 20
_ANNOTATIONS = ("examples", "x-open")

_encode = msgspec.json.Encoder(order="deterministic").encode


def observe(schema: Schema | None, call_input: Mapping[str, Any], *, ok: bool = True) -> Schema:
    """Return the schema widened by one input; the same object when nothing is new.

    ``ok``: whether the call worked; a failed one changes nothing.
    """
    if not ok:
        return schema if schema is not None else {}
    seen = _shape(dict(call_input), 0)
    if not schema:
        return seen
    merged = _merge(schema, seen)
    return schema if merged == schema else merged


def schema_hash(schema: Schema) -> str:
    """32 hex digits that name the shape: fields, types, what is required. Examples do not count."""
    return hashlib.blake2b(_encode(_bare(schema)), digest_size=16).hexdigest()


def version_after(version: int, *, observations: int, changed: bool) -> int:
    """The inferred version of a tool after an observation, for tools whose callers send none.

    It goes up by one with every change of the hash, but not while the first ``SETTLED_AFTER``
    observations are still finding out which fields are optional.
    """
    return version + 1 if changed and observations > SETTLED_AFTER else version


def describe_change(old: Schema, new: Schema) -> list[str]:
    """What differs between two schemas, one sentence a difference, for people."""
    return list(_changes(old or {}, new or {}, "input"))


def _shape(value: Any, depth: int) -> Schema:
    if isinstance(value, dict):
        return _object_shape(value, depth)
    if isinstance(value, list):
        if not value or depth >= MAX_DEPTH:
            return {"type": "array"}
        items = _shape(value[0], depth + 1)
        for item in value[1:MAX_ITEMS]:
            items = _merge(items, _shape(item, depth + 1))
        return {"type": "array", "items": items}
    if isinstance(value, str):
        if len(value) > MAX_EXAMPLE_CHARS:
            return {"type": "string", "x-open": True}
        return {"type": "string", "examples": [value]}
    return {"type": _scalar_type(value)}


def _object_shape(value: dict[str, Any], depth: int) -> Schema:
    if depth >= MAX_DEPTH or not value:
        return {"type": "object"}
    shape: Schema = {
        "type": "object",
        "properties": {str(name): _shape(item, depth + 1) for name, item in sorted(value.items())},
        "required": sorted(str(name) for name in value),
    }
    return _as_map(shape) if len(value) > MAX_PROPERTIES else shape


def _scalar_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "number"


def _merge(first: Schema, second: Schema) -> Schema:
    kinds = _types(first) | _types(second)
    if "number" in kinds:
        kinds.discard("integer")
    merged: Schema = {"type": sorted(kinds)[0] if len(kinds) == 1 else sorted(kinds)}
    if "object" in kinds:
        merged |= _merge_objects(first, second)
    if "array" in kinds:
        items = [part["items"] for part in (first, second) if "items" in part]
        if items:
            merged["items"] = items[0] if len(items) == 1 else _merge(items[0], items[1])
    if "string" in kinds:
        merged |= _merge_examples(first, second)
    return merged


def _types(schema: Schema) -> set[str]:
    kind = schema.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


def _merge_objects(first: Schema, second: Schema) -> Schema:
    objects = [part for part in (first, second) if "object" in _types(part)]
    if any("additionalProperties" in part for part in objects):
        values = [
            part["additionalProperties"] for part in map(_as_map, objects) if "additionalProperties" in part
        ]
        return {"additionalProperties": values[0] if len(values) == 1 else _merge(values[0], values[1])}
    properties: dict[str, Schema] = {}
    for part in objects:
        for name, item in part.get("properties", {}).items():
            properties[name] = _merge(properties[name], item) if name in properties else item
    required = [set(part.get("required", ())) for part in objects]
    merged: Schema = {}
    if properties:
        merged["properties"] = dict(sorted(properties.items()))
    always = sorted(set.intersection(*required))
    if always:
        merged["required"] = always
    if len(properties) > MAX_PROPERTIES:
        merged = {"additionalProperties": _as_map({"type": "object", **merged})["additionalProperties"]}
    return merged


def _as_map(schema: Schema) -> Schema:
    """An object with so many names that they are data: one schema for all its values."""
    properties = list(schema.get("properties", {}).values())
    if "additionalProperties" in schema or not properties:
        return schema
    values = properties[0]
    for item in properties[1:]:
        values = _merge(values, item)
    return {"type": "object", "additionalProperties": values}


def _merge_examples(first: Schema, second: Schema) -> Schema:
    if first.get("x-open") or second.get("x-open"):
        return {"x-open": True}
    seen = sorted({*first.get("examples", ()), *second.get("examples", ())})
    return {"examples": seen} if len(seen) <= MAX_EXAMPLES else {"x-open": True}


def _bare(schema: Schema) -> Schema:
    bare: Schema = {}
    for name, value in schema.items():
        if name == "properties":
            bare[name] = {field: _bare(item) for field, item in value.items()}
        elif name in ("items", "additionalProperties"):
            bare[name] = _bare(value)
        elif name not in _ANNOTATIONS:
            bare[name] = value
    return bare


def _changes(old: Schema, new: Schema, place: str) -> Iterator[str]:
    if _types(old) != _types(new):
        yield f"{place}: was {_said(old)}, is {_said(new)}."
    before, after = old.get("properties", {}), new.get("properties", {})
    must_before, must_after = set(old.get("required", ())), set(new.get("required", ()))
    for name in sorted(before.keys() | after.keys()):
        path = f"{place}.{name}"
        if name not in before:
            need = "required" if name in must_after else "optional"
            yield f"{path}: new {need} field ({_said(after[name])})."
        elif name not in after:
            yield f"{path}: gone."
        else:
            if name in must_before - must_after:
                yield f"{path}: no longer always present."
            elif name in must_after - must_before:
                yield f"{path}: now always present."
            yield from _changes(before[name], after[name], path)
    for part, label in (("items", "[]"), ("additionalProperties", ".*")):
        if part in old and part in new:
            yield from _changes(old[part], new[part], place + label)
        elif part in new:
            yield f"{place}{label}: now known ({_said(new[part])})."


def _said(schema: Schema) -> str:
    return " or ".join(sorted(_types(schema))) or "unknown"
