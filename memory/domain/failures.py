"""Which calls failed, and what the failure says.

Explicit failures are read from what the caller reported and from the output itself; reading an output
is the business of ``memory.domain.outputs``. Silent ones are found by validators
(``memory.domain.validators``) and, here, by the task's outcome.
"""

from typing import Any, Literal

import msgspec

from memory.domain.error_texts import Complaint, http_reason, read_text
from memory.domain.experience import CallStatus
from memory.domain.outputs import complaint_of, read_output

FailureKind = Literal[
    "error", "rejected", "cancelled", "timeout", "exception", "http", "output", "validation", "outcome"
]

MAX_MESSAGE = 4_000
MAX_TYPE = 200


class CallSnapshot(msgspec.Struct, frozen=True):
    """A stored call as the analysis sees it (redacted, large values as references)."""

    tool: str
    input: dict[str, Any] = {}
    output: Any = None
    status: CallStatus = "unknown"
    error_type: str = ""
    error_message: str = ""
    http_status: int | None = None
    error_detail: Any = None


class FailureFinding(msgspec.Struct, frozen=True):
    """A failure: how it showed (``kind``), its type and message, and an HTTP status where there is one."""

    kind: FailureKind
    error_type: str
    message: str
    http_status: int | None = None


def detect_failure(call: CallSnapshot) -> FailureFinding | None:
    """Say whether a call failed explicitly.

    A reported status or error decides; where neither says anything, and also where the caller says
    "ok" (many only mean "it returned"), the output is read. Output that merely talks about errors is
    no failure.
    """
    said = _reported_complaint(call)
    status = call.http_status if call.http_status is not None else (said.http_status if said else None)
    failing_http = status is not None and status >= 400  # RFC 9110: 4xx and 5xx
    reported = call.status in ("error", "rejected", "cancelled", "timeout")
    if not reported and not call.error_message and not call.error_type and not failing_http:
        said = read_output(call.output)
        return _from_output(said) if said else None
    if not said or not said.message:
        found = read_output(call.output)
        said = _fallback(call, found or said)
    return FailureFinding(
        kind=_kind(call, reported, said),
        error_type=_error_type(call, said, status)[:MAX_TYPE],
        message=(said.message or _plain_message(call, status))[:MAX_MESSAGE],
        http_status=status if status is not None else said.http_status,
    )


def detect_outcome_failure(
    *, result: str, reward: float | None, note: str, failed_calls: int, threshold: float = 0.0
) -> FailureFinding | None:
    """A task that failed though every call was fine; None when a call explains it, or it did not fail.

    ``reward`` at or below ``threshold`` counts as failure when ``result`` says nothing.
    """
    lost = result == "failure" or (result == "unknown" and reward is not None and reward <= threshold)
    if not lost or failed_calls:
        return None
    why = note.strip() or "The task failed although every call was fine."
    return FailureFinding(kind="outcome", error_type="TaskFailed", message=why[:MAX_MESSAGE])


def _reported_complaint(call: CallSnapshot) -> Complaint | None:
    """What the error fields say; a text may name its type and status itself."""
    message = call.error_message.strip()
    read = read_text(message) if message else None
    given = call.error_detail
    detail = complaint_of(given) if isinstance(given, dict) else read_output(given)
    if not message and not call.error_type and detail is None:
        return None
    return Complaint(
        message=message or (detail.message if detail else ""),
        error_type=(read.error_type if read else "") or (detail.error_type if detail else ""),
        http_status=(read.http_status if read else None) or (detail.http_status if detail else None),
    )


def _fallback(call: CallSnapshot, found: Complaint | None) -> Complaint:
    """A reported failure without a message: the output is its message."""
    if found and found.message:
        return found
    text = call.output.strip() if isinstance(call.output, str) else ""
    known = found or Complaint(message="")
    return Complaint(message=text, error_type=known.error_type, http_status=known.http_status)


def _from_output(said: Complaint) -> FailureFinding:
    kind: FailureKind = "http" if said.http_status else "exception" if said.is_exception else "output"
    return FailureFinding(
        kind=kind,
        error_type=(said.error_type or (f"HTTP {said.http_status}" if said.http_status else "error"))[
            :MAX_TYPE
        ],
        message=said.message[:MAX_MESSAGE],
        http_status=said.http_status,
    )


def _kind(call: CallSnapshot, reported: bool, said: Complaint) -> FailureKind:
    if reported and call.status in ("rejected", "cancelled", "timeout"):
        return call.status
    if call.http_status is not None or said.http_status is not None:
        return "http"
    return "exception" if call.error_type or said.error_type else "error"


def _error_type(call: CallSnapshot, said: Complaint, status: int | None) -> str:
    if call.error_type:
        return call.error_type
    if said.error_type:
        return said.error_type
    if status is not None:
        return f"HTTP {status}"
    return call.status if call.status not in ("ok", "unknown") else "error"


def _plain_message(call: CallSnapshot, status: int | None) -> str:
    if status is not None:
        return f"HTTP {status} {http_reason(status)}".strip()
    if call.error_type:
        return call.error_type
    return f"The call ended as {call.status} without a message."
