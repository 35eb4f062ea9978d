"""Decisions that agents made themselves: the server is told of them and keeps them like its own."""

from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from corrections.live.receipts import Issued, append_tokens
from corrections.live.signing import is_local, own_part, verified
from memory.domain.access import Actor, check_may
from memory.domain.plain_json import storable

MAX_DECISIONS = 500
MAX_ERRORS = 60
MAX_EXPOSURES = 200
MAX_TEXT = 500


class LocalDecision(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A decision: its receipt, and what only this document says of it.

    ``errors``: conditions and actions that failed, ``{rule, version, name, detail}``. ``exposures``: rules
    on trial that were met, ``[canary, stage, share, arm]``; the receipt itself holds the first 8.
    """

    token: str
    blocked: bool = False
    errors: list[dict[str, Any]] = []
    exposures: list[tuple[str, int, int, str]] = []


class LocalDecisions(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A batch: up to 500."""

    receipts: list[Any]


class Taken(msgspec.Struct, frozen=True):
    """What became of one: ``created`` (kept, perhaps again) or ``invalid`` with the reason."""

    index: int
    status: str
    detail: str = ""


class TakenList(msgspec.Struct, frozen=True):
    """What became of each, in order."""

    results: list[Taken]


class TooMany(ValueError):
    """More decisions at once than are taken."""


def report_decisions(*, decisions: Sequence[Any], by: Actor) -> list[Taken]:
    """Keep decisions of this workspace's keys; each is judged alone. Sending them again changes nothing.

    Raises :class:`NotPermitted`, and :class:`TooMany` for more than 500.
    """
    check_may(by, "query_corrections")
    workspace_id = by.workspace_id
    if workspace_id is None:
        raise ValueError("Decisions are made in a workspace.")
    if len(decisions) > MAX_DECISIONS:
        raise TooMany(f"Send at most {MAX_DECISIONS} at once.")
    rows: list[Issued] = []
    results: list[Taken] = []
    for index, given in enumerate(decisions):
        try:
            rows.append(_issued(given, workspace_id))
            results.append(Taken(index, "created"))
        except (msgspec.ValidationError, ValueError) as error:
            results.append(Taken(index, "invalid", str(error)[:MAX_TEXT]))
    if rows:
        append_tokens(rows)
    return results


def _issued(given: Any, workspace_id: int) -> Issued:
    decision = msgspec.convert(given, LocalDecision)
    if not is_local(decision.token) or verified(decision.token, workspace_id) is None:
        raise ValueError("token: no receipt that a key of this workspace made")
    if len(decision.errors) > MAX_ERRORS or len(decision.exposures) > MAX_EXPOSURES:
        raise ValueError(f"at most {MAX_ERRORS} errors and {MAX_EXPOSURES} exposures")
    errors = [_error(row) for row in decision.errors]
    return Issued(
        workspace_id,
        own_part(decision.token),
        decision.blocked,
        orjson.dumps(storable(errors)).decode(),
        orjson.dumps(decision.exposures).decode(),
    )


def _error(row: dict[str, Any]) -> dict[str, Any]:
    """A fault as the engine tells it, nothing else."""
    version = row.get("version")
    if not isinstance(version, int):
        raise ValueError("errors: a fault names the version of its rule")
    texts = {name: str(row.get(name) or "")[:MAX_TEXT] for name in ("rule", "name", "detail")}
    return {**texts, "version": version}
