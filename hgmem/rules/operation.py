"""What every operation of a PARAMETER_TRANSFORM shares."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from hgmem.rules.context import Context
from hgmem.rules.fields import FieldFault, parse_path, set_field


class OperationFault(ValueError):
    """An operation cannot be carried out on this document."""


class Operation(BaseModel):
    """What every operation shares."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def apply(self, document: Any, context: Context) -> Any:
        """The document after the operation.

        Raises:
            OperationFault: it cannot be carried out.
        """
        raise NotImplementedError

    def reads(self) -> frozenset[str]:
        """Paths inside the document (or, with their variable, outside it) whose value matters."""
        return frozenset()

    def writes(self) -> frozenset[str]:
        """Paths inside the document that may change."""
        field: str = getattr(self, "field", "")
        return frozenset((field,))

    def describe(self) -> str:
        """Half a sentence for people."""
        raise NotImplementedError


def put_field(document: Any, field: str, value: Any) -> Any:
    """The document with a value at a path.

    Raises:
        OperationFault: the path goes through something that is no object or list.
    """
    try:
        return set_field(document, parse_path(field), value)
    except FieldFault as fault:
        raise OperationFault(str(fault)) from None


def shown(value: Any) -> str:
    """A value as a sentence says it: JSON, at most 60 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
