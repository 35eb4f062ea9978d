"""The operations of a PARAMETER_TRANSFORM, one small model each.

Each has ``apply(document, scope)``: a new document (the old one is never changed), or
``OperationFault`` with a sentence. ``scope`` gives the variables to CEL expressions.
"""

import json
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from hgmem.rules.casts import cast_value
from hgmem.rules.conditions import Expression
from hgmem.rules.context import Context
from hgmem.rules.errors import EvaluationFailure
from hgmem.rules.fields import MISSING, FieldName, FieldOrWhole, get_field, parse_path, remove_field
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_OPERATIONS
from hgmem.rules.operation import Operation, OperationFault, put_field, shown
from hgmem.rules.regexes import has_open_repeat
from hgmem.rules.sources import ExpressionText
from hgmem.rules.text_operations import RegexReplace, ReplaceWords
from hgmem.rules.values import type_name

MAX_OPEN_REPEATS: Final = 5


class SetDefault(Operation):
    """Give a field a value when it is missing, null or blank text."""

    op: Literal["set_default"] = "set_default"
    field: FieldName
    default_value: JsonValue

    def apply(self, document: Any, context: Context) -> Any:
        """Set the field unless it already says something."""
        value = get_field(document, parse_path(self.field))
        blank = value is MISSING or value is None or (isinstance(value, str) and not value.strip())
        return put_field(document, self.field, self.default_value) if blank else document

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"set {self.field} to {shown(self.default_value)} when it is empty"


class Set(Operation):
    """Give a field a value, whatever it was."""

    op: Literal["set"] = "set"
    field: FieldName
    value: JsonValue

    def apply(self, document: Any, context: Context) -> Any:
        """Set the field."""
        return put_field(document, self.field, self.value)

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"set {self.field} to {shown(self.value)}"


class Rename(Operation):
    """Move a value to another field, unless that one already says something."""

    op: Literal["rename"] = "rename"
    field: FieldName
    to: FieldName

    def apply(self, document: Any, context: Context) -> Any:
        """Move the value; nothing happens when there is none or the target is taken."""
        value = get_field(document, parse_path(self.field))
        if value is MISSING or get_field(document, parse_path(self.to)) not in (MISSING, None):
            return document
        return put_field(remove_field(document, parse_path(self.field)), self.to, value)

    def reads(self) -> frozenset[str]:
        """The field that is moved."""
        return frozenset((self.field,))

    def writes(self) -> frozenset[str]:
        """Both fields."""
        return frozenset((self.field, self.to))

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"rename {self.field} to {self.to}"


class Remove(Operation):
    """Take a field away."""

    op: Literal["remove"] = "remove"
    field: FieldName

    def apply(self, document: Any, context: Context) -> Any:
        """Remove the field if it is there."""
        return remove_field(document, parse_path(self.field))

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"remove {self.field}"


class Cast(Operation):
    """Change the type of a value. A missing or null field stays as it is."""

    op: Literal["cast"] = "cast"
    field: FieldOrWhole
    to: Literal["string", "integer", "number", "boolean", "list", "json"]

    def apply(self, document: Any, context: Context) -> Any:
        """Cast the value; "list" wraps a single value, "json" parses text."""
        value = get_field(document, parse_path(self.field))
        if value is MISSING or value is None:
            return document
        try:
            return put_field(document, self.field, cast_value(value, self.to))
        except ValueError:
            raise OperationFault(f"{shown(value)} cannot be turned into {self.to}") from None

    def reads(self) -> frozenset[str]:
        """The field itself."""
        return frozenset((self.field,))

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"turn {self.field or 'the whole value'} into {self.to}"


class MapValues(Operation):
    """Replace known values; keys are the value's text (JSON text when it is no string)."""

    op: Literal["map_values"] = "map_values"
    field: FieldName
    mapping: Annotated[dict[str, JsonValue], Field(min_length=1, max_length=1_000)]

    def apply(self, document: Any, context: Context) -> Any:
        """Replace the value when the mapping knows it."""
        value = get_field(document, parse_path(self.field))
        if value is MISSING:
            return document
        key = value if isinstance(value, str) else json.dumps(value)
        return put_field(document, self.field, self.mapping[key]) if key in self.mapping else document

    def reads(self) -> frozenset[str]:
        """The field itself."""
        return frozenset((self.field,))

    def describe(self) -> str:
        """Half a sentence for people."""
        pairs = [f"{key} to {shown(value)}" for key, value in list(self.mapping.items())[:3]]
        return f"change {self.field} from {', '.join(pairs)}{' and more' if len(self.mapping) > 3 else ''}"


class Clamp(Operation):
    """Keep a number inside bounds. A missing or null field stays as it is."""

    op: Literal["clamp"] = "clamp"
    field: FieldName
    min: float | int | None = None
    max: float | int | None = None

    @model_validator(mode="after")
    def _check(self) -> "Clamp":
        if self.min is None and self.max is None:
            raise ValueError("needs min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is larger than max")
        return self

    def apply(self, document: Any, context: Context) -> Any:
        """Clamp the number."""
        value = get_field(document, parse_path(self.field))
        if value is MISSING or value is None:
            return document
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise OperationFault(f"{self.field} is a {type_name(value)}, no number")
        clamped = value
        if self.min is not None and clamped < self.min:
            clamped = self.min
        if self.max is not None and clamped > self.max:
            clamped = self.max
        return put_field(document, self.field, clamped) if clamped is not value else document

    def reads(self) -> frozenset[str]:
        """The field itself."""
        return frozenset((self.field,))

    def describe(self) -> str:
        """Half a sentence for people."""
        bounds = [f"at least {self.min}"] * (self.min is not None) + [f"at most {self.max}"] * (
            self.max is not None
        )
        return f"keep {self.field} {' and '.join(bounds)}"


class Evaluate(Operation):
    """Set a field to the value of a CEL expression over the context (``input`` as it is by then)."""

    op: Literal["expression"] = "expression"
    field: FieldName
    expression: Annotated[ExpressionText, Field(min_length=1, max_length=MAX_CONDITION_CHARS)]

    def apply(self, document: Any, context: Context) -> Any:
        """Evaluate and set; an evaluation error is a fault."""
        value = Expression.compile(self.expression).value(context.with_variables(input=document))
        if isinstance(value, EvaluationFailure):
            raise OperationFault(f"{self.field} could not be computed: {value.detail}")
        return put_field(document, self.field, value)

    def reads(self) -> frozenset[str]:
        """What the expression reads, with its variable, marked by ``=``."""
        return frozenset(f"={path}" for path in Expression.compile(self.expression).read_set)

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"set {self.field} to {self.expression}"


def _check_open_repeats(operations: tuple[Any, ...]) -> tuple[Any, ...]:
    patterns = [step.pattern for step in operations if isinstance(step, RegexReplace)]
    if sum(map(has_open_repeat, patterns)) > MAX_OPEN_REPEATS:
        raise ValueError(f"at most {MAX_OPEN_REPEATS} regex_replace with an open repeat (*, +) in one rule")
    return operations


AnyOperation = Annotated[
    SetDefault | Set | Rename | Remove | Cast | MapValues | RegexReplace | ReplaceWords | Clamp | Evaluate,
    Field(discriminator="op"),
]
Operations = Annotated[
    tuple[AnyOperation, ...],
    Field(min_length=1, max_length=MAX_OPERATIONS),
    AfterValidator(_check_open_repeats),
]
OPERATION_NAMES: Final = (
    "set_default",
    "set",
    "rename",
    "remove",
    "cast",
    "map_values",
    "regex_replace",
    "replace_words",
    "clamp",
    "expression",
)
