"""Weak spots: error patterns that hang together, because one cause may be behind them.

A graph of patterns, joined where they read alike, blame the same identifier in the same scope, or burst in
the same hours. Its communities (Louvain; Blondel et al. 2008) are the weak spots.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Literal

import networkx as nx

Bond = Literal["alike", "identifier", "burst"]
BONDS: tuple[Bond, ...] = ("alike", "identifier", "burst")
SAME_TOOL = 0.5
"""What a bond within one tool counts: it holds a spot together, but a spot is about several tools."""
MOST_SHARING = 30
"""An identifier that more patterns blame than this is a common word, not a cause."""
LEAST_OF_ONE_TOOL = 3
"""Patterns that a spot within one tool has at least; across tools two are enough."""
LEAST_OVERLAP = 0.3
KEPT_EDGES = 400
QUIET = timedelta(days=14)
"""A spot without a failure for so long is resolved."""


@dataclass(frozen=True)
class SpotPattern:
    """A pattern as a weak spot sees it. ``failures`` is how often it happened."""

    id: int
    tool: str
    failures: int
    identifier: str = ""
    scope: str = ""


@dataclass(frozen=True)
class SpotEdge:
    """Why two patterns belong together.

    ``strength`` is between 0 and 1; ``word`` is a shared identifier, ``hours`` those of shared bursts.
    """

    one: int
    other: int
    bond: Bond
    strength: float
    word: str = ""
    hours: tuple[int, ...] = ()


@dataclass(frozen=True)
class Spot:
    """Patterns with one cause, perhaps: the heaviest first.

    ``bonds`` counts the edges by kind, ``words`` are the identifiers that bind, the commonest first,
    ``hours`` those of shared bursts, in order.
    """

    patterns: tuple[SpotPattern, ...]
    edges: tuple[SpotEdge, ...]
    bonds: Mapping[Bond, int]
    words: tuple[str, ...]
    hours: tuple[int, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools it touches, the one with most failures first."""
        weights: Counter[str] = Counter()
        for pattern in self.patterns:
            weights[pattern.tool] += pattern.failures
        return tuple(sorted(weights, key=lambda tool: (-weights[tool], tool)))

    @property
    def failures(self) -> int:
        """How often its patterns happened, together."""
        return sum(pattern.failures for pattern in self.patterns)

    @property
    def ids(self) -> frozenset[int]:
        """The ids of its patterns."""
        return frozenset(pattern.id for pattern in self.patterns)


def identifier_edges(patterns: Iterable[SpotPattern]) -> list[SpotEdge]:
    """Patterns that blame the same identifier in the same scope; the fewer blame it, the more it says."""
    groups: dict[tuple[str, str], list[SpotPattern]] = defaultdict(list)
    for pattern in patterns:
        if pattern.identifier:
            groups[pattern.scope, pattern.identifier.casefold()].append(pattern)
    edges = []
    for (_, _), group in sorted(groups.items()):
        if 2 <= len(group) <= MOST_SHARING:
            strength = 2 / max(2.0, len(group) ** 0.5)
            edges += [
                SpotEdge(one.id, other.id, "identifier", strength, one.identifier)
                for one, other in combinations(sorted(group, key=lambda item: item.id), 2)
            ]
    return edges


def find_weak_spots(patterns: Sequence[SpotPattern], edges: Iterable[SpotEdge]) -> list[Spot]:
    """The communities that are worth a look, the one with most failures first. Deterministic.

    Edges to unknown patterns are left out. What holds together within one tool only is a spot from
    ``LEAST_OF_ONE_TOOL`` patterns on.
    """
    known = {pattern.id: pattern for pattern in patterns}
    inside = [edge for edge in edges if edge.one in known and edge.other in known]
    graph = nx.Graph()
    graph.add_nodes_from(sorted({end for edge in inside for end in (edge.one, edge.other)}))
    for edge in sorted(inside, key=lambda edge: (edge.one, edge.other, edge.bond)):
        is_across = known[edge.one].tool != known[edge.other].tool
        weight = edge.strength * (1.0 if is_across else SAME_TOOL)
        before = graph.get_edge_data(edge.one, edge.other, {"weight": 0.0})["weight"]
        graph.add_edge(edge.one, edge.other, weight=before + weight)
    groups = nx.community.louvain_communities(graph, seed=1) if graph else []
    home = {member: place for place, group in enumerate(groups) for member in group}
    held: dict[int, list[SpotEdge]] = defaultdict(list)
    for edge in inside:
        if home[edge.one] == home[edge.other]:
            held[home[edge.one]].append(edge)
    spots = [_spot([known[member] for member in group], held[place]) for place, group in enumerate(groups)]
    return sorted(
        (spot for spot in spots if _is_spot(spot)), key=lambda spot: (-spot.failures, min(spot.ids))
    )


def _is_spot(spot: Spot) -> bool:
    return len(spot.patterns) >= (2 if len(spot.tools) > 1 else LEAST_OF_ONE_TOOL)


def _spot(patterns: Sequence[SpotPattern], edges: Sequence[SpotEdge]) -> Spot:
    words = Counter(edge.word for edge in edges if edge.word)
    counts = Counter(edge.bond for edge in edges)
    strongest = sorted(edges, key=lambda edge: (-edge.strength, edge.one, edge.other, edge.bond))
    return Spot(
        tuple(sorted(patterns, key=lambda pattern: (-pattern.failures, pattern.id))),
        tuple(strongest[:KEPT_EDGES]),
        {bond: counts[bond] for bond in BONDS if counts[bond]},
        tuple(word for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0]))[:5]),
        tuple(sorted({hour for edge in edges for hour in edge.hours})),
    )


def same_spots(
    before: Mapping[int, frozenset[int]], found: Sequence[frozenset[int]], *, least: float = LEAST_OVERLAP
) -> dict[int, int]:
    """Which spot of before each found one is: its place -> the old key, by the best overlap (Jaccard).

    Each old one is given once; below ``least`` it is another one.
    """
    holders: dict[int, list[int]] = defaultdict(list)
    for key, members in before.items():
        for member in members:
            holders[member].append(key)
    pairs = []
    for place, members in enumerate(found):
        for key in sorted({key for member in members for key in holders[member]}):
            overlap = len(members & before[key]) / len(members | before[key])
            if overlap >= least:
                pairs.append((-overlap, key, place))
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for _, key, place in sorted(pairs):
        if place not in chosen and key not in taken:
            chosen[place] = key
            taken.add(key)
    return chosen
