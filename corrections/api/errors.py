"""What the domain refuses, as answers."""

from collections.abc import Iterator
from contextlib import contextmanager

from corrections.actions.rules import StaleEdit
from corrections.domain.lifecycle import Refused
from hgmem.rules import RuleError
from memory.api.errors import Conflict, Unprocessable


@contextmanager
def refusals(prefix: str = "") -> Iterator[None]:
    """422 for a bad rule or context (paths under ``prefix``), 409 for a stale edit or an impossible step."""
    try:
        yield
    except RuleError as error:
        faults = error.under(prefix).errors if prefix else error.errors
        rows = [{"field": fault["field"], "detail": fault["detail"]} for fault in faults]
        raise Unprocessable(str(error), rows) from error
    except (StaleEdit, Refused) as error:
        raise Conflict(str(error)) from error
