"""What the domain refuses, as answers."""

from collections.abc import Iterator
from contextlib import contextmanager

from rest_framework.exceptions import APIException

from corrections.actions.regressions import BrokenRuling
from corrections.actions.rules import StaleEdit
from corrections.domain.lifecycle import Refused
from hgmem.rules import RuleError
from memory.api.errors import Conflict, Unprocessable


class BrokenRulingAnswer(Conflict):
    """409 with the ruling (field ``ruling``: its uuid) and what would come out instead (``witness``)."""

    default_code = "broken_ruling"

    def __init__(self, detail: str, errors: list[dict[str, str]]) -> None:
        APIException.__init__(self, detail, self.default_code)
        self.errors = errors


@contextmanager
def refusals(prefix: str = "") -> Iterator[None]:
    """422 for a bad rule or context (paths under ``prefix``), 409 for a stale edit or an impossible step."""
    try:
        yield
    except RuleError as error:
        faults = error.under(prefix).errors if prefix else error.errors
        rows = [{"field": fault["field"], "detail": fault["detail"]} for fault in faults]
        raise Unprocessable(str(error), rows) from error
    except BrokenRuling as error:
        rows = [{"field": "ruling", "detail": str(error.ruling.uuid)}]
        rows += [{"field": "witness", "detail": line} for line in error.lines]
        raise BrokenRulingAnswer(str(error), rows) from error
    except (StaleEdit, Refused) as error:
        raise Conflict(str(error)) from error
