"""What people's marks say about the answers of a week. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from memory.domain.trends import Rate, rate_of

VERDICTS = ("right", "wrong", "unsure")
FIRST = 3


class Marked(msgspec.Struct, frozen=True):
    """A reviewed answer: the paths it gave, best first, and those a person called right.

    ``relevant`` may name paths that the answer missed.
    """

    answered: Sequence[str]
    relevant: Sequence[str]
    verdict: str


class SampleFigures(msgspec.Struct, frozen=True):
    """The figures of a sample, each with its n and its 95 % interval.

    ``recall``: of all right paths, those among the first three (recall@3). ``right``: answers called right
    among those called right or wrong. ``unsure`` and ``unreviewed`` are counts.
    """

    recall: Rate
    right: Rate
    unsure: int
    unreviewed: int


def figures_of(marked: Iterable[Marked], *, unreviewed: int = 0) -> SampleFigures:
    """The figures of some reviewed answers. An answer called unsure counts for no rate."""
    found = wanted = right = judged = unsure = 0
    for answer in marked:
        if answer.verdict == "unsure":
            unsure += 1
            continue
        judged += 1
        right += answer.verdict == "right"
        relevant = set(answer.relevant)
        wanted += len(relevant)
        found += len(relevant.intersection(answer.answered[:FIRST]))
    return SampleFigures(rate_of(found, wanted), rate_of(right, judged), unsure, unreviewed)
