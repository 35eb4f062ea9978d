"""Traces: taking spans as they come, and writing the tasks that they tell of.

A call is written once its span has waited ``SETTLE_S`` for others that began earlier; its place is then fixed
in the span's row, so that nothing depends on what comes later. The task is final when its root span is there
and nothing came for ``TRACE_QUIET_S``, or nothing came for ``TRACE_IDLE_S``.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from memory.actions.record import ItemResult, record_experience
from memory.domain.access import Actor, check_may
from memory.domain.importers.otlp_calls import MCP_METHOD, is_recorded, is_tool, own_calls
from memory.domain.importers.otlp_received import (
    calls_document,
    is_agent,
    kept,
    last_document,
    written,
)  # fmt: skip
from memory.domain.importers.otlp_spans import Span, spans_of
from memory.domain.importers.records import BadRecordError
from memory.models import Trace, TraceSpan
from memory.permissions import SYSTEM
from memory.writer.redactors import scrub_for

log = logging.getLogger(__name__)
SETTLE_S: Final = 5.0
KEEP_CLOSED: Final = timedelta(days=7)
MAX_SPANS: Final = 5_000
BATCH: Final = 200
MAX_REASONS: Final = 5


@dataclass
class Received:
    """What became of an export: how many spans could not be used, and why (the first few reasons)."""

    rejected: int = 0
    reasons: list[str] = field(default_factory=list)

    def reject(self, reason: str, count: int = 1) -> None:
        """Count spans that cannot be used."""
        self.rejected += count
        if reason not in self.reasons and len(self.reasons) < MAX_REASONS:
            self.reasons.append(reason)


def receive_spans(*, workspace_id: int, export: Any, by: Actor) -> Received:
    """Keep the spans of one OTLP export (its JSON form) until their tasks can be written.

    Spans that came before are passed over. Secrets are redacted before anything is stored. Raises
    NotPermitted, BadRecordError for what is no export, database errors.
    """
    check_may(by, "record_experience", within=workspace_id)
    received = Received()
    redactor = scrub_for(workspace_id).redactor
    by_trace: dict[str, dict[str, dict[str, Any]]] = {}
    for row in spans_of(export):
        try:
            if isinstance(row, BadRecordError):
                raise row
            small = kept(row)
        except BadRecordError as bad:
            received.reject(str(bad))
            continue
        if small is not None:
            by_trace.setdefault(row["traceId"], {})[row["spanId"]] = _redacted(redactor, small)
    if by_trace:
        _store(workspace_id, by_trace, received, timezone.now())
    return received


def write_traces() -> None:
    """Write what has waited long enough, trace by trace; one that fails stops no other."""
    now = timezone.now()
    for trace_id in list(_due(now).order_by("news_at").values_list("pk", flat=True)[:BATCH]):
        try:
            _write(trace_id, now)
        except OperationalError as error:
            log.warning("A trace waits for the database: %s", error)
        except Exception as error:  # tried again, it would fail again, and hold up the others
            log.exception("A trace could not be written.")
            problem = f"its task could not be written ({type(error).__name__})"
            Trace.objects.filter(pk=trace_id).update(closed_at=now, problem=problem)


def drop_old_traces() -> None:
    """Forget the span ids of traces that ended long ago."""
    Trace.objects.filter(closed_at__lt=timezone.now() - KEEP_CLOSED).delete()


def _redacted(redactor: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Identifiers and times stay; they look like card numbers to a redactor."""
    said = {name: row[name] for name in ("name", "attributes", "status", "events")}
    redacted: dict[str, Any] = redactor.redact(said)[0]
    return row | redacted


def _store(
    workspace_id: int, by_trace: dict[str, dict[str, dict[str, Any]]], received: Received, now: datetime
) -> None:
    names = sorted(by_trace)
    with transaction.atomic():
        Trace.objects.bulk_create(
            [Trace(workspace_id=workspace_id, trace=name, news_at=now) for name in names],
            ignore_conflicts=True,
        )
        traces = Trace.objects.select_for_update().filter(workspace_id=workspace_id, trace__in=names)
        for trace in traces.order_by("trace"):
            _add(trace, by_trace[trace.trace], received, now)


def _add(trace: Trace, rows: dict[str, dict[str, Any]], received: Received, now: datetime) -> None:
    known = set(trace.spans.filter(span__in=rows).values_list("span", flat=True))
    fresh = {name: row for name, row in rows.items() if name not in known}
    if trace.closed_at is not None:
        if fresh:
            received.reject(trace.problem or "the trace is over; its task is final", len(fresh))
        return
    if trace.span_count + len(fresh) > MAX_SPANS:
        received.reject(f"a trace may have up to {MAX_SPANS:,} spans of agents and tools", len(fresh))
        return
    if not fresh:
        return
    TraceSpan.objects.bulk_create(
        [TraceSpan(trace=trace, span=name, row=row) for name, row in fresh.items()], batch_size=500
    )
    trace.span_count += len(fresh)
    trace.news_at, trace.waiting_since = now, trace.waiting_since or now
    trace.has_root = trace.has_root or any(not row["parentSpanId"] for row in fresh.values())
    trace.save(update_fields=["span_count", "news_at", "waiting_since", "has_root"])


def _due(now: datetime) -> Any:
    return Trace.objects.filter(closed_at=None).filter(
        Q(waiting_since__lte=now - timedelta(seconds=SETTLE_S)) | _over(now)
    )


def _over(now: datetime) -> Q:
    quiet, idle = timedelta(seconds=settings.TRACE_QUIET_S), timedelta(seconds=settings.TRACE_IDLE_S)
    return Q(has_root=True, news_at__lte=now - quiet) | Q(news_at__lte=now - idle)


@transaction.atomic
def _write(trace_id: int, now: datetime) -> None:
    trace = Trace.objects.select_for_update().filter(pk=trace_id, closed_at=None).first()
    if trace is None:
        return
    is_over = Trace.objects.filter(_over(now), pk=trace_id).exists()
    stored = sorted(trace.spans.all(), key=lambda each: (each.row["begin"], each.pk))
    documents = _calls(trace, stored, is_over=is_over)
    if is_over:
        documents += _ending(trace, [Span(each.row) for each in stored])
        trace.closed_at = now
        trace.spans.update(row={})
    trace.waiting_since = None
    problem = _record(trace.workspace_id, documents)
    if problem:
        trace.problem, trace.closed_at = problem, now
        log.warning("The task of a trace could not be written: %s", problem)
    trace.save(update_fields=["next_seq", "waiting_since", "closed_at", "problem"])


def _calls(trace: Trace, stored: list[TraceSpan], *, is_over: bool) -> list[dict[str, Any]]:
    """Documents of the calls that are written now; their spans get their places."""
    spans = [Span(each.row) for each in stored]
    here = {span.id for span in spans}
    own = {span.id for span in own_calls(spans)}
    new = [
        (each, span)
        for each, span in zip(stored, spans, strict=True)
        if each.seq is None and span.id in own and (is_over or not _may_be_doubled(span, here))
    ]
    placed = []
    for each, span in new:
        each.seq, trace.next_seq = trace.next_seq, trace.next_seq + 1
        each.row = written(each.row)
        placed.append((each.seq, span))
    TraceSpan.objects.bulk_update([each for each, _ in new], ["seq", "row"], batch_size=200)
    return calls_document(trace.trace, placed) if placed else []


def _may_be_doubled(span: Span, here: set[str]) -> bool:
    """An MCP client's span waits for the one around it, which may be the same call."""
    return span.first(MCP_METHOD) is not None and bool(span.parent) and span.parent not in here


def _ending(trace: Trace, spans: list[Span]) -> list[dict[str, Any]]:
    """The last document; none for a trace in which no agent did anything, or whose calls are recorded."""
    is_seen = any(is_agent(span) and not is_tool(span) for span in spans)
    if trace.next_seq or (is_seen and not any(is_recorded(span) for span in spans)):
        return [last_document(trace.trace, spans)]
    return []


def _record(workspace_id: int, documents: Iterable[dict[str, Any]]) -> str:
    """Record them; why that was not possible, if it was not."""
    results: list[ItemResult] = []
    for document in documents:
        results += record_experience(workspace_id=workspace_id, documents=[document], by=SYSTEM)
    errors = [error for result in results for error in result.errors]
    return f"{errors[0].field}: {errors[0].detail}" if errors else ""
