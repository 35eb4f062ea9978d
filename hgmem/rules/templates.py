"""Text with ``{{ input.city }}`` placeholders, filled from the context's data and never executed."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from hgmem.rules.fields import MISSING, get_field, parse_path
from hgmem.rules.limits import MAX_HINT_CHARS, MAX_MESSAGE_CHARS, MAX_TEMPLATE_CHARS
from hgmem.rules.tree import VARIABLES

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]{1,300}?)\s*\}\}")
_MAX_VALUE_CHARS: Final = 500
_MAX_STEP_DEPTH: Final = 20


def template_reads(text: str) -> frozenset[str]:
    """The paths a template reads, with their variable: ``input.city``.

    Raises:
        ValueError: a placeholder names no variable of the context.
    """
    reads = frozenset(_PLACEHOLDER.findall(text))
    for read in reads:
        path = parse_path(read)
        if path[0] not in VARIABLES or path[0] == "now":
            raise ValueError(f"{{{{ {read} }}}} names none of {', '.join(VARIABLES)}")
    return reads


def _check_template(text: str) -> str:
    template_reads(text)
    return text


Template = Annotated[str, Field(min_length=1, max_length=MAX_TEMPLATE_CHARS), AfterValidator(_check_template)]
"""A pydantic type: template text."""

Message = Annotated[str, Field(max_length=MAX_MESSAGE_CHARS), AfterValidator(_check_template)]
"""A pydantic type: template text for a message; may be empty."""


def render(text: str, variables: Mapping[str, Any]) -> str:
    """Fill a template. A missing value becomes nothing; the result is cut at ``MAX_HINT_CHARS``."""
    if "{{" not in text:
        return text
    return _PLACEHOLDER.sub(lambda found: _shown(_value(found[1], variables)), text)[:MAX_HINT_CHARS]


def render_value(template: Any, variables: Mapping[str, Any]) -> Any:
    """Fill the templates inside a JSON value; a text that is one placeholder keeps the value's type."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        return _value(whole[1], variables) if whole else render(template, variables)
    if isinstance(template, dict):
        return {key: render_value(part, variables) for key, part in template.items()}
    if isinstance(template, list):
        return [render_value(part, variables) for part in template]
    return template


def value_reads(template: Any, depth: int = 0) -> frozenset[str]:
    """The paths that the templates inside a JSON value read.

    Raises:
        ValueError: a placeholder names no variable, or the value is nested too deep.
    """
    if depth > _MAX_STEP_DEPTH:
        raise ValueError(f"is nested deeper than {_MAX_STEP_DEPTH}")
    if isinstance(template, str):
        return template_reads(template)
    parts = (
        template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    )
    return frozenset(read for part in parts for read in value_reads(part, depth + 1))


def _value(path: str, variables: Mapping[str, Any]) -> Any:
    found = get_field(variables, parse_path(path))
    return None if found is MISSING else found


def _shown(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"
