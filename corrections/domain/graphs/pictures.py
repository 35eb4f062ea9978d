"""A picture of rules that need one another: providers on the left, what depends on them to the right."""

from collections import Counter

from corrections.domain.graphs.dependencies import DependencyGraph, RuleFacts
from memory.domain.graphs.layered import Place, layered
from memory.domain.graphs.pictures import EDGE_CELLS, GAP, TEXT_CELLS, TITLE_CELLS, Box, Flow, Picture, Wire
from memory.domain.graphs.texts import plain, shorten

DRAWN = 150
"""More rules than this are drawn only in part: those in circles, then those with the most edges."""
CIRCLE = "↻"
FLOW: Flow = "right"


def picture_of_rules(graph: DependencyGraph) -> tuple[Picture, int]:
    """The picture, and how many rules were left out of it. Box ids are the rules' uuids.

    Two rules are joined by one wire, labelled with the first thing that joins them. Rules of a circle carry
    a sign, not only a colour.
    """
    chosen = _chosen(graph)
    names = [rule.uuid for rule in chosen]
    known = set(names)
    labels: dict[tuple[str, str], str] = {}
    for edge in graph.edges:
        if edge.provider in known and edge.dependent in known:
            said = edge.fields[0] if edge.fields else edge.tool or edge.reason
            labels.setdefault((edge.provider, edge.dependent), said)
    grid = layered(names, list(labels))
    boxes = tuple(_box(rule, grid.places[rule.uuid], rule.uuid in graph.in_cycle) for rule in chosen)
    twins: Counter[frozenset[str]] = Counter()
    wires = []
    for number, (ends, said) in enumerate(labels.items()):
        wires.append(
            Wire(
                f"e{number}", *ends, tuple(_point(bend) for bend in grid.bends.get(number, ())),
                shorten(plain(said), EDGE_CELLS), backward=number in grid.backward,
                twin=twins[frozenset(ends)],
            )
        )  # fmt: skip
        twins[frozenset(ends)] += 1
    return Picture(boxes, tuple(wires), FLOW), len(graph.rules) - len(chosen)


def _chosen(graph: DependencyGraph) -> list[RuleFacts]:
    """The rules to draw, in the order in which they came."""
    if len(graph.rules) <= DRAWN:
        return list(graph.rules)
    weight = Counter(end for edge in graph.edges for end in (edge.provider, edge.dependent))
    ranked = sorted(graph.rules, key=lambda rule: (rule.uuid not in graph.in_cycle, -weight[rule.uuid]))
    kept = {rule.uuid for rule in ranked[:DRAWN]}
    return [rule for rule in graph.rules if rule.uuid in kept]


def _box(rule: RuleFacts, place: Place, in_cycle: bool) -> Box:
    sign = f"{CIRCLE} " if in_cycle else ""
    lines = (
        shorten(sign + (plain(rule.name) or rule.uuid), TITLE_CELLS),
        shorten(plain(rule.tool), TEXT_CELLS),
        rule.status,
    )
    return Box(rule.uuid, "rule", lines, *_point(place), tone="")


def _point(place: Place) -> tuple[float, float]:
    across, along = GAP[FLOW]
    return float(place.layer * across), round(place.column * along, 1)
