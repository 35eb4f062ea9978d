"""The parts of a localization score that need no text: tags, structure, and how parts are put together."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memory.domain.locating.entries import PathEntry


@dataclass(frozen=True)
class Weights:
    """How much each part counts; any scale. What does not apply to a question is left out of the sum."""

    tags: float = 0.4
    semantic: float = 0.6
    structure: float = 0.0

    def __post_init__(self) -> None:
        if min(self.tags, self.semantic, self.structure) < 0:
            raise ValueError("Weights must not be negative.")

    def over(self, *, tags: bool, semantic: bool, structure: bool) -> "Weights":
        """Renormalised over the parts that apply, so that they sum to 1.

        Where every part that applies weighs 0, they weigh the same. All are 0 when nothing applies.
        """
        given = (self.tags * tags, self.semantic * semantic, self.structure * structure)
        if not any(given):
            given = (float(tags), float(semantic), float(structure))
        total = sum(given) or 1.0
        return Weights(*(weight / total for weight in given))


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """Shared members over all members, 0 to 1; 0 for two empty collections."""
    first, second = set(one), set(other)
    union = len(first | second)
    return len(first & second) / union if union else 0.0


def overlap_score(
    tags: Collection[str],
    *,
    path_tags: Collection[str],
    path_nodes: Collection[str],
    tag_weight: float = 0.6,
    node_weight: float = 0.4,
) -> float:
    """The first scoring of hierarchical graph memory: tags against tags, and tags against the names of nodes.

    ``tag_weight * jaccard(tags, path_tags) + node_weight * jaccard(tags, path_nodes)``. For the tags ``order,
    query`` it gives 0.70 to the path tagged so whose nodes are ``query, parse_result, answer``.
    """
    return tag_weight * jaccard(tags, path_tags) + node_weight * jaccard(tags, path_nodes)


def structure_similarity(names: Sequence[str], entry: PathEntry) -> float:
    """How far the nodes that a caller names follow the path, 0 to 1, minding their order.

    The mean of two Dice coefficients: of nodes in the same order (longest common subsequence), and of
    transitions (a named node after another) that are edges of the path. With one name only the first.
    """
    wanted = [name.strip().casefold() for name in names if name.strip()]
    if not wanted or not entry.steps:
        return 0.0
    in_order = 2 * _common_subsequence(wanted, entry.steps) / (len(wanted) + len(entry.steps))
    if len(wanted) == 1:
        return in_order
    moves = set(pairwise(wanted))
    walked = {
        (before, after)
        for source, target in entry.edges
        for before in entry.steps[source]
        for after in entry.steps[target]
        if (before, after) in moves
    }
    return (in_order + 2 * len(walked) / (len(moves) + len(entry.edges))) / 2


def _common_subsequence(wanted: Sequence[str], steps: Iterable[Collection[str]]) -> int:
    best = [0] * (len(wanted) + 1)
    for names in steps:
        diagonal = 0
        for place, name in enumerate(wanted, start=1):
            above = best[place]
            best[place] = diagonal + 1 if name in names else max(above, best[place - 1])
            diagonal = above
    return best[-1]
