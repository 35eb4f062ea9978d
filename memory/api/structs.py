"""Shapes of requests and answers that belong to the API alone."""

import msgspec

from memory.actions.record import ItemResult
from memory.domain.experience import ExperienceDoc
from memory.domain.intake import FieldError
from memory.queries.experiences import TaskSummary


class Experiences(msgspec.Struct, frozen=True):
    """A batch: up to 500 calls in all."""

    experiences: list[ExperienceDoc]


class BatchResult(msgspec.Struct, frozen=True):
    """A result for each document, in order, and how many there are of each status."""

    results: list[ItemResult]
    counts: dict[str, int]


class TaskPage(msgspec.Struct, frozen=True):
    """A page of tasks, newest first."""

    next: str | None
    previous: str | None
    results: list[TaskSummary]


class PayloadBody(msgspec.Struct, frozen=True):
    """A large value: ``body`` is its JSON text, cut when ``truncated``; ``size`` is that of the whole."""

    digest: str
    size: int
    truncated: bool
    body: str


class ErrorAnswer(msgspec.Struct, frozen=True):
    """The one shape of every error."""

    code: str
    detail: str
    field: str = ""
    errors: list[FieldError] = []


class PartialSuccess(msgspec.Struct, frozen=True):
    """Spans that could not be used: how many (64-bit integers are text in OTLP's JSON), and why."""

    rejectedSpans: str  # noqa: N815 - OTLP's name
    errorMessage: str  # noqa: N815


class TracesAnswer(msgspec.Struct, frozen=True):
    """OTLP's ``ExportTraceServiceResponse``; empty when every span was taken."""

    partialSuccess: PartialSuccess | None = None  # noqa: N815
