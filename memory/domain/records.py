"""What one experience document says, resolved: places in the task, digests, redacted content.

``normalize`` is the only way from a document to a record. A call's identity is its task and its
``seq``; its content is everything else, and ``digest`` names that content as it was *sent*, so
that sending it again is recognised even after the redaction rules have changed.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Protocol

import msgspec

from memory.domain.experience import CallDoc, CallStatus, ExperienceDoc, Result, Source, StepDoc
from memory.domain.intake import FieldError
from memory.domain.plain_json import storable

DIGEST_BYTES = 16
MAX_NAME = 200  # a marker can be longer than what it replaces


class CallRecord(msgspec.Struct, frozen=True):
    """One call with its place resolved; without a step of its own it is the turn ``seq``.

    ``digest``: 32 hex digits over the content as sent.
    """

    seq: int
    step: int
    tool: str
    tool_version: str
    input: dict[str, Any]
    output: Any
    status: CallStatus
    error_type: str
    error_message: str
    http_status: int | None
    error_detail: Any
    duration_ms: float | None
    started_at: datetime | None
    reasoning: str
    reasoning_digest: str
    receipt: str
    digest: str


class StepRecord(msgspec.Struct, frozen=True):
    """A turn that has content of its own: a reasoning, or several calls."""

    index: int
    reasoning: str
    reasoning_digest: str


class OutcomeRecord(msgspec.Struct, frozen=True):
    """One statement about how the task ended. ``digest`` is over the statement as sent."""

    result: Result
    reward: float | None
    by: Source
    note: str
    digest: str = ""


class TaskRecord(msgspec.Struct, frozen=True):
    """One document, resolved. ``digest`` names the whole document as sent."""

    external_id: str
    goal: str
    tags: tuple[str, ...]
    agent: str
    framework: str
    root_task: str
    env: dict[str, Any]
    started_at: datetime | None
    finished_at: datetime | None
    final: bool
    outcome: OutcomeRecord | None
    calls: tuple[CallRecord, ...]
    steps: tuple[StepRecord, ...]
    digest: str
    redactions: dict[str, int] = {}


class Scrubber(Protocol):
    """What ``normalize`` needs of a redactor (see ``memory.domain.redaction``)."""

    def scrub(self, value: Any, encoded: bytes, counts: dict[str, int]) -> Any:
        """Return ``value`` redacted; ``encoded`` is JSON that contains at least ``value``."""


class InvalidRecordError(ValueError):
    """A readable document whose parts do not fit together; ``errors`` name the fields."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__("; ".join(f"{error.field}: {error.detail}" for error in errors))
        self.errors = errors


_encode = msgspec.json.Encoder(order="deterministic").encode


def normalize(doc: ExperienceDoc, *, redactor: Scrubber | None = None, key: bytes = b"") -> TaskRecord:
    """Resolve places, compute digests of what was sent, redact what will be kept.

    A call without ``seq`` gets its position in the document; a step without ``index`` likewise.
    ``key`` (at most 64 bytes, constant for a workspace) keys the digests, so that a digest does
    not let anybody guess a short secret that was redacted.

    An external id or root task that holds something to redact becomes ``redacted:<digest>``: two
    people's tasks must not become one because both names turned into the same marker.

    Raises InvalidRecordError when a ``seq`` or a step index occurs twice, or when a call says another
    step than the one it stands in.
    """
    counts: dict[str, int] = {}
    errors: list[FieldError] = []
    placed = list(_placed_calls(doc, errors))
    _refuse_duplicates(((call.seq, place) for place, call in placed), errors)
    if errors:
        raise InvalidRecordError(tuple(errors))
    calls = tuple(_call_record(call, redactor, key, counts) for _, call in placed)
    head = _encode((doc.external_id, doc.goal, doc.agent, doc.framework, doc.root_task, doc.tags, doc.env))
    steps = tuple(_step_records(doc, calls, redactor, key, counts))
    outcome = _outcome_record(doc, redactor, key, counts)

    texts: list[Any] = [
        doc.external_id,
        doc.root_task,
        doc.goal,
        list(dict.fromkeys(doc.tags)),
        doc.agent,
        doc.env,
    ]
    external_id, root_task, goal, tags, agent, env = (
        redactor.scrub(texts, head, counts) if redactor else texts
    )
    return TaskRecord(
        external_id=_name(doc.external_id, external_id, key),
        goal=goal,
        tags=tuple(tags),
        agent=agent[:MAX_NAME],
        framework=doc.framework,
        root_task=_name(doc.root_task, root_task, key),
        env=env,
        started_at=doc.started_at,
        finished_at=doc.finished_at,
        final=doc.final,
        outcome=outcome,
        calls=calls,
        steps=steps,
        digest=_digest(head + _digest_parts(doc, calls, steps, outcome), key),
        redactions=counts,
    )


def recorded_name(sent: str, *, redactor: Scrubber, key: bytes) -> str:
    """The external id under which a task is kept whose id was sent as ``sent``."""
    name = storable(sent)
    return _name(name, redactor.scrub(name, _encode(name), {}), key)


def _name(sent: str, kept: str, key: bytes) -> str:
    return sent if sent == kept else f"redacted:{text_digest(sent, key)}"


def text_digest(text: str, key: bytes = b"") -> str:
    """32 hex digits for a text, empty for an empty text."""
    return _digest(text.encode(), key) if text else ""


def _digest(encoded: bytes, key: bytes) -> str:
    return hashlib.blake2b(encoded, digest_size=DIGEST_BYTES, key=key).hexdigest()


def _placed_calls(doc: ExperienceDoc, errors: list[FieldError]) -> Iterator[tuple[str, CallDoc]]:
    """Every call with seq and step filled in, and the field path it came from."""
    position = 0
    for position, call in enumerate(doc.calls):
        seq = position if call.seq is None else call.seq
        yield f"calls.{position}.seq", call if call.seq == seq else _at(call, seq, call.step)
    position = 0
    for outer, step in enumerate(doc.steps):
        index = outer if step.index is None else step.index
        for inner, call in enumerate(step.calls):
            place = f"steps.{outer}.calls.{inner}"
            if call.step is not None and call.step != index:
                detail = f"The call says step {call.step} but stands in step {index}."
                errors.append(FieldError(f"{place}.step", detail))
            yield f"{place}.seq", _at(call, position if call.seq is None else call.seq, index)
            position += 1
    numbers = ((_index(n, step), f"steps.{n}.index") for n, step in enumerate(doc.steps))
    _refuse_duplicates(numbers, errors)


def _index(position: int, step: StepDoc) -> int:
    return position if step.index is None else step.index


def _at(call: CallDoc, seq: int, step: int | None) -> CallDoc:
    return msgspec.structs.replace(call, seq=seq, step=step)


def _refuse_duplicates(numbers: Iterator[tuple[int | None, str]], errors: list[FieldError]) -> None:
    first: dict[int | None, str] = {}
    for number, place in numbers:
        if number in first:
            errors.append(FieldError(place, f"{number} is already taken by {first[number]}."))
        else:
            first[number] = place


def _call_record(call: CallDoc, redactor: Scrubber | None, key: bytes, counts: dict[str, int]) -> CallRecord:
    error = call.error
    if error is None:
        kind, message, http_status, detail = "", "", None, None
    elif isinstance(error, str):
        kind, message, http_status, detail = "", error, None, None
    else:
        kind, message, http_status, detail = error.type, error.message, error.http_status, error.detail
    sent = _encode(
        (
            *(call.tool, call.tool_version, call.input, call.output, call.status, kind, message),
            *(http_status, detail, call.duration_ms, call.started_at, call.reasoning, call.receipt),
            call.step,
        )
    )
    content: list[Any] = [call.input, call.output, kind, message, detail, call.reasoning]
    if redactor:
        content = redactor.scrub(content, sent, counts)
    given, output, kind, message, detail, reasoning = content
    return CallRecord(
        seq=call.seq or 0,
        step=(call.seq or 0) if call.step is None else call.step,
        tool=call.tool,
        tool_version=call.tool_version,
        input=given,
        output=output,
        status=call.status,
        error_type=kind[:MAX_NAME],
        error_message=message,
        http_status=http_status,
        error_detail=detail,
        duration_ms=call.duration_ms,
        started_at=call.started_at,
        reasoning=reasoning,
        reasoning_digest=text_digest(call.reasoning, key),
        receipt=call.receipt,
        digest=_digest(sent, key),
    )


def _step_records(
    doc: ExperienceDoc,
    calls: tuple[CallRecord, ...],
    redactor: Scrubber | None,
    key: bytes,
    counts: dict[str, int],
) -> Iterator[StepRecord]:
    reasonings = {_index(n, step): step.reasoning for n, step in enumerate(doc.steps)}
    sizes: dict[int, int] = {}
    for call in calls:
        sizes[call.step] = sizes.get(call.step, 0) + 1
    for index in sorted(reasonings.keys() | sizes.keys()):
        sent = reasonings.get(index, "")
        if not sent and sizes.get(index, 0) < 2:  # "several" is two or more
            continue
        kept = redactor.scrub(sent, _encode(sent), counts) if redactor and sent else sent
        yield StepRecord(index=index, reasoning=kept, reasoning_digest=text_digest(sent, key))


def _outcome_record(
    doc: ExperienceDoc, redactor: Scrubber | None, key: bytes, counts: dict[str, int]
) -> OutcomeRecord | None:
    if doc.outcome is None:
        return None
    sent = _encode(doc.outcome)
    note = redactor.scrub(doc.outcome.note, sent, counts) if redactor else doc.outcome.note
    return OutcomeRecord(
        result=doc.outcome.result,
        reward=doc.outcome.reward,
        by=doc.outcome.by,
        note=note,
        digest=_digest(sent, key),
    )


def _digest_parts(
    doc: ExperienceDoc,
    calls: tuple[CallRecord, ...],
    steps: tuple[StepRecord, ...],
    outcome: OutcomeRecord | None,
) -> bytes:
    rest = (
        *(doc.started_at, doc.finished_at, doc.final, outcome.digest if outcome else ""),
        *(
            [(call.seq, call.digest) for call in calls],
            [(step.index, step.reasoning_digest) for step in steps],
        ),
    )
    return _encode(rest)
