"""What the domain refuses, as answers."""

from collections.abc import Iterator
from contextlib import contextmanager

from rest_framework.exceptions import ErrorDetail

from corrections.actions.changes import StaleChange
from corrections.actions.regressions import BrokenRuling
from corrections.actions.rules import StaleEdit
from corrections.api.change_shapes import ChangePictureSerializer
from corrections.domain.changes import InvalidPolicyError
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.models import ChangeRequest
from corrections.queries.changes import get_change, picture_of
from hgmem.rules import RuleError
from memory.api.errors import Conflict, Unprocessable
from memory.domain.lifecycle import TransitionError


class BrokenRulingAnswer(Conflict):
    """409 with the ruling (field ``ruling``: its uuid) and what would come out instead (``witness``)."""

    def __init__(self, error: BrokenRuling) -> None:
        rows = [{"field": "ruling", "detail": str(error.ruling.uuid)}]
        rows += [{"field": "witness", "detail": line} for line in error.lines]
        super().__init__(str(error), rows)
        self.detail = ErrorDetail(str(error), "broken_ruling")


@contextmanager
def refusals(prefix: str = "", change: ChangeRequest | None = None) -> Iterator[None]:
    """422 for a bad rule or context (paths under ``prefix``), 409 for a stale edit or an impossible step.

    A ``change`` that is out of date comes with the answer as ``current``, three ways.
    """
    try:
        yield
    except RuleError as error:
        faults = error.under(prefix).errors if prefix else error.errors
        rows = [{"field": fault["field"], "detail": fault["detail"]} for fault in faults]
        raise Unprocessable(str(error), rows) from error
    except BrokenRuling as error:
        raise BrokenRulingAnswer(error) from error
    except ReasonMissing as error:
        raise Unprocessable(str(error), [{"field": "reason", "detail": str(error)}]) from error
    except InvalidPolicyError as error:
        raise Unprocessable(str(error), [{"field": "policy", "detail": str(error)}]) from error
    except StaleChange as error:
        raise Conflict(str(error), more=_current(change)) from error
    except StaleEdit as error:
        raise Conflict(str(error), more={"sides": [side.to_dict() for side in error.sides]}) from error
    except (Refused, TransitionError) as error:
        raise Conflict(str(error)) from error


def _current(change: ChangeRequest | None) -> dict[str, object]:
    now = get_change(workspace_id=change.workspace_id, uuid=change.uuid) if change else None
    return {"current": ChangePictureSerializer(picture_of(now)).data} if now else {}
