"""JSON, strictly: no name twice, no NaN, not nested without end."""

import json
from typing import Any

from corrections.domain.rule_files.tree import MAX_DEPTH, Tree, TreeError
from memory.domain.plain_json import is_too_deep


def read_json(text: str) -> Tree:
    """The value of a JSON text. Raises :class:`TreeError`."""
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise TreeError(f"no JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise TreeError("is nested too deep") from None
    except TreeError:
        raise
    except ValueError:  # an integer of thousands of digits
        raise TreeError("no JSON: a number is too long") from None
    if is_too_deep([value], MAX_DEPTH):
        raise TreeError("is nested too deep")
    return Tree(value)


def write_json(value: Any) -> str:
    """Indented, names in the order given, one line end at the end."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise TreeError(f"{twice!r} is here twice in one object")
    return result


def _refuse(constant: str) -> Any:
    raise TreeError(f"no JSON: {constant} is no number")
