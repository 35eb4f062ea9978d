"""The days and the tool that a page of insights was asked for."""

from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import timezone

from memory.domain.insights.spans import SPANS, first_day, read_span

MAX_TOOL = 200


@dataclass(frozen=True)
class Asked:
    """``days`` that end today (UTC), and one tool or "" for all."""

    span: int
    today: date
    tool: str

    @property
    def since(self) -> date:
        """The first day."""
        return first_day(self.today, self.span)

    @property
    def days(self) -> list[date]:
        """Every day of the span, oldest first."""
        return [self.since + timedelta(days=ahead) for ahead in range(self.span)]

    def context(self, **more: str) -> dict[str, Any]:
        """What ``insights/base.html`` needs. ``more``: what else narrows the page, so that links keep it."""
        asked = {name: value for name, value in {"tool": self.tool, **more}.items() if value}
        kept = f"&{urlencode(asked)}" if asked else ""
        return {"span": self.span, "spans": SPANS, "kept": kept, "tool": self.tool}


def read_asked(request: HttpRequest) -> Asked:
    """From the address; anything odd is the default."""
    tool = request.GET.get("tool", "").replace("\x00", "")[:MAX_TOOL]
    span = read_span(request.GET.get("days", "")) or SPANS[1]
    return Asked(span, timezone.now().astimezone(UTC).date(), tool)
