"""Weak spots: error patterns that hang together."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.api.access import workspace_of
from memory.api.resources import describes, find, next_address, text_filter, text_params
from memory.models import WeakSpot, WeakSpotMember
from memory.queries.path_views import as_json
from memory.queries.weak_spots import (
    SpotBond,
    SpotFilters,
    bonds_of,
    burst_moments,
    list_spots,
    members_of,
    spot_rows,
)

STATUSES = ("open", "resolved")
LIST_PARAMETERS = [
    text_filter("status", "Only spots in this status; `open` if left out.", STATUSES),
    text_filter("tools", "`any`: spots within one tool, too.", ("any",)),
    text_filter("tool", "Only spots with a pattern of this tool."),
    text_filter("cursor", "Where the page starts: follow `next`."),
]


class WeakSpotView(msgspec.Struct, frozen=True):
    """Patterns with one cause, perhaps.

    ``bonds`` counts the pairs that read ``alike``, blame the same ``identifier`` or ``burst`` together;
    ``words`` are the identifiers, ``bursts`` the hours, newest first. ``lately``: failures of the last week.
    """

    uuid: UUID
    title: str
    status: str
    why_resolved: str
    tools: list[str]
    pattern_count: int
    failures: int
    lately: int
    bonds: dict[str, int]
    words: list[str]
    bursts: list[datetime]
    first_seen_at: datetime
    last_seen_at: datetime
    found_at: datetime
    resolved_at: datetime | None


class SpotPatternView(msgspec.Struct, frozen=True):
    """A pattern of a spot."""

    uuid: UUID
    title: str
    tool: str
    status: str
    failures: int


class SpotBondView(msgspec.Struct, frozen=True):
    """Why two of its patterns belong together; ``strength`` is between 0 and 1."""

    one: UUID
    other: UUID
    bond: str
    strength: float
    word: str


class WeakSpotDetail(msgspec.Struct, frozen=True):
    """A spot with its patterns, the most frequent first, and the strongest bonds between them."""

    spot: WeakSpotView
    patterns: list[SpotPatternView]
    bonds: list[SpotBondView]


class WeakSpotPage(msgspec.Struct, frozen=True):
    """One page of spots, those with most failures first."""

    next: str | None
    previous: str | None
    results: list[WeakSpotView]


class WeakSpotList(APIView):
    """Where one cause may be behind the errors of several tools."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "insights", "List weak spots", {200: WeakSpotPage}, parameters=LIST_PARAMETERS,
        operation_id="insights_weak_spots_list",
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Most failures first, cursor-paged."""
        asked = text_params(request, "status", "tools", "tool", "cursor")
        status = asked["status"] if asked["status"] in STATUSES else "open"
        filters = SpotFilters(status, any_tools=asked["tools"] == "any", tool=asked["tool"])
        page = list_spots(workspace_of(request), filters, asked["cursor"])
        following = next_address(request, page.next_cursor)
        return Response(as_json(WeakSpotPage(following, None, [_view(row) for row in page.rows])))


class WeakSpotOne(APIView):
    """One weak spot."""

    actions: ClassVar = {"GET": "look"}

    @describes("insights", "Get a weak spot", {200: WeakSpotDetail})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With its patterns and what binds them."""
        spot = find(spot_rows(workspace_of(request)), uuid)
        members = members_of([spot])[spot.pk]
        patterns = [_pattern(member) for member in members]
        bonds = [_bond(bond) for bond in bonds_of(spot, members)]
        return Response(as_json(WeakSpotDetail(_view(spot), patterns, bonds)))


def _pattern(member: WeakSpotMember) -> SpotPatternView:
    row = member.pattern
    return SpotPatternView(row.uuid, row.title, row.tool, row.status, member.failures)


def _bond(bond: SpotBond) -> SpotBondView:
    return SpotBondView(bond.one.uuid, bond.other.uuid, bond.bond, bond.strength, bond.word)


def _view(row: WeakSpot) -> WeakSpotView:
    return WeakSpotView(
        row.uuid, row.title, row.status, row.why_resolved, list(row.tools), row.pattern_count, row.failures,
        row.lately, dict(row.bonds), list(row.words), burst_moments(row), row.first_seen_at, row.last_seen_at,
        row.found_at, row.resolved_at,
    )  # fmt: skip
