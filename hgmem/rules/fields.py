"""Field paths in JSON documents: ``city``, ``address.city``, ``items[0].price``, ``["a.b"].c``.

Reading and writing never change the document given: a write returns a new document that shares
everything it did not touch.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from hgmem.rules.limits import MAX_PATH_CHARS

Path = tuple[str | int, ...]

MISSING: Final = object()
"""What ``get_field`` returns when there is no such field."""

_STEP = re.compile(r'\.?(?P<name>[^.\[\]"]+)|\[(?P<index>\d{1,6})\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]')


class FieldFault(ValueError):
    """A document cannot be read or written at a path."""


def parse_path(text: str) -> Path:
    """The steps of a path; text for a key, an integer for a list item. "" is the whole document.

    Raises:
        ValueError: the text is no path.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or (step["name"] and bool(steps) != text[at:].startswith(".")):
            raise ValueError(f"{text!r} is no field path, such as city, address.city or items[0].price")
        at = step.end()
        if step["name"]:
            steps.append(step["name"])
        elif step["index"]:
            steps.append(int(step["index"]))
        else:
            steps.append(re.sub(r"\\(.)", r"\1", step["quoted"][1:-1]))
    return tuple(steps)


def format_path(path: Iterable[str | int]) -> str:
    """The text of a path."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.search(r'[.\[\]"\\]', step) or not step:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
        else:
            text += f".{step}" if text else step
    return text


def _check_path(text: str) -> str:
    parse_path(text)
    return text


FieldName = Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS), AfterValidator(_check_path)]
"""A pydantic type: the path of a field inside a document."""

FieldOrWhole = Annotated[str, Field(max_length=MAX_PATH_CHARS), AfterValidator(_check_path)]
"""A pydantic type: a path, or "" for the whole document."""


def get_field(document: Any, path: Path) -> Any:
    """The value at a path, or ``MISSING``."""
    value = document
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return MISSING
        elif not isinstance(value, list) or step >= len(value):
            return MISSING
        value = value[step]
    return value


def set_field(document: Any, path: Path, value: Any) -> Any:
    """The document with a value at a path; missing objects on the way are created.

    Raises:
        FieldFault: the path goes through something that is no object or list, or past a list's end.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        if document is not None and not isinstance(document, dict):
            raise FieldFault(f"{step!r} cannot be set: its parent is no object")
        owner = document or {}
        return {**owner, step: set_field(owner.get(step), rest, value)}
    if not isinstance(document, list) or step >= len(document):
        raise FieldFault(f"item {step} cannot be set: there is no such item")
    return [*document[:step], set_field(document[step], rest, value), *document[step + 1 :]]


def remove_field(document: Any, path: Path) -> Any:
    """The document without the field at a path; the same document when it has none."""
    if get_field(document, path) is MISSING:
        return document
    step, rest = path[0], path[1:]
    if rest:
        return set_field(document, (step,), remove_field(document[step], rest))
    if isinstance(step, str):
        return {key: value for key, value in document.items() if key != step}
    return [*document[:step], *document[step + 1 :]]


def changes_between(before: Any, after: Any, prefix: Path = ()) -> list[dict[str, Any]]:
    """What differs: ``{"field", "from", "to"}`` each; a missing side is left out."""
    if before is after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in [*before, *(key for key in after if key not in before)]:
            found += changes_between(before.get(key, MISSING), after.get(key, MISSING), (*prefix, key))
        return found
    if type(before) is type(after) and before == after:
        return []
    change: dict[str, Any] = {"field": format_path(prefix)}
    if before is not MISSING:
        change["from"] = before
    if after is not MISSING:
        change["to"] = after
    return [change]
