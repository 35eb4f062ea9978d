"""Weak spots: the list, one with its patterns and what binds them, as graphs and in facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import QuerySet

from memory.domain.graphs.graph import Graph, GraphEdge, GraphNode
from memory.models import ErrorPattern, Failure, WeakSpot, WeakSpotMember, WeakSpotScan
from memory.queries.paging import Page, most_first

PER_PAGE = 20
DRAWN_PATTERNS = 150
"""On the page of all spots; the page of one draws up to as many of its own."""
DRAWN_EDGES = 800
EXAMPLES = 8
MEMBERS = 200


@dataclass(frozen=True)
class SpotFilters:
    """What the list is narrowed to: ``status`` open or resolved, and whether one tool is enough."""

    status: str = "open"
    any_tools: bool = False
    tool: str = ""


@dataclass(frozen=True)
class SpotBond:
    """Why two patterns of a spot belong together. ``bond`` is alike, identifier or burst."""

    one: ErrorPattern
    other: ErrorPattern
    bond: str
    strength: float
    word: str


def spot_rows(workspace_id: int) -> QuerySet[WeakSpot]:
    """Every weak spot."""
    return WeakSpot.objects.filter(workspace=workspace_id)


def list_spots(workspace_id: int, filters: SpotFilters, cursor: str) -> Page[WeakSpot]:
    """The ones with most failures first."""
    rows = spot_rows(workspace_id).filter(status=filters.status)
    if not filters.any_tools:
        rows = rows.filter(tool_count__gte=2)
    if filters.tool:
        mine = WeakSpotMember.objects.filter(pattern__workspace=workspace_id, pattern__tool=filters.tool)
        rows = rows.filter(pk__in=mine.values("spot"))
    return most_first(rows, "failures", cursor, size=PER_PAGE)


def find_spot(workspace_id: int, uuid: UUID) -> WeakSpot | None:
    """The spot, or None for an unknown or foreign one."""
    return spot_rows(workspace_id).filter(uuid=uuid).first()


def last_scan(workspace_id: int) -> WeakSpotScan | None:
    """When spots were looked for last, and among how much."""
    return WeakSpotScan.objects.filter(workspace=workspace_id).exclude(scanned_at=None).first()


def members_of(spots: Sequence[WeakSpot], *, most: int = MEMBERS) -> dict[int, list[WeakSpotMember]]:
    """The patterns of each spot, the heaviest first, up to ``most`` of them all together. One query."""
    rows = WeakSpotMember.objects.filter(spot__in=list(spots)).select_related("pattern")
    found: dict[int, list[WeakSpotMember]] = {spot.pk: [] for spot in spots}
    for member in rows.order_by("-failures", "pk")[:most]:
        found[member.spot_id].append(member)
    return found


def bonds_of(spot: WeakSpot, members: Sequence[WeakSpotMember]) -> list[SpotBond]:
    """The strongest bonds between these members, strongest first."""
    known = {str(member.pattern.uuid): member.pattern for member in members}
    return [
        SpotBond(known[one], known[other], bond, strength, word)
        for one, other, bond, strength, word in spot.edges
        if one in known and other in known
    ]


def example_failures(members: Sequence[WeakSpotMember]) -> list[Failure]:
    """The newest failures of the heaviest patterns, with task and call, newest first."""
    heaviest = [member.pattern_id for member in members[:EXAMPLES]]
    ids = [
        pk
        for pattern in heaviest
        for pk in Failure.objects.filter(pattern=pattern).order_by("-id").values_list("pk", flat=True)[:2]
    ]
    rows = Failure.objects.filter(pk__in=ids).select_related("task", "call", "pattern").defer("context")
    return list(rows.order_by("-id")[:EXAMPLES])


def burst_moments(spot: WeakSpot) -> list[datetime]:
    """The hours in which its patterns burst together, newest first."""
    return [datetime.fromtimestamp(hour * 3600, UTC) for hour in reversed(spot.burst_hours)]


def graph_of_spots(
    spots: Sequence[WeakSpot], members: dict[int, list[WeakSpotMember]], words: dict[str, str]
) -> tuple[Graph, dict[str, UUID]]:
    """Patterns as events around the tools they came from, bonds between them; and the uuid by node id.

    ``words`` are the bonds in the reader's language. A tool is drawn once for each spot, so that spots lie
    apart.
    """
    nodes: dict[str, GraphNode] = {}
    edges: list[GraphEdge] = []
    uuids: dict[str, UUID] = {}
    for spot in spots:
        mine = members[spot.pk]
        for member in mine:
            pattern = member.pattern
            tool = f"tool:{spot.pk}:{pattern.tool}"
            weight = member.failures + (nodes[tool].weight if tool in nodes else 0)
            nodes[tool] = GraphNode(tool, pattern.tool, "action", pattern.tool, weight)
            name = str(pattern.uuid)
            nodes[name] = GraphNode(name, _said(pattern), "event", pattern.tool, member.failures)
            uuids[name] = pattern.uuid
            edges.append(GraphEdge(tool, name))
        edges += [
            GraphEdge(str(bond.one.uuid), str(bond.other.uuid), label=bond.word or words.get(bond.bond, ""))
            for bond in bonds_of(spot, mine)[: DRAWN_EDGES // max(1, len(spots))]
        ]
    return Graph(tuple(nodes.values()), tuple(edges)), uuids


def _said(pattern: ErrorPattern) -> str:
    """Its title without the tool, which stands beside it."""
    return pattern.title.removeprefix(f"{pattern.tool}: ")
