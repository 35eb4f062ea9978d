"""The figures of a reviewed week."""

import pytest

from memory.domain.locating.review import Marked, figures_of


@pytest.mark.parametrize(
    ("marked", "recall", "right", "unsure"),
    [
        pytest.param([], (0, 0), (0, 0), 0, id="nothing reviewed"),
        pytest.param([Marked(["a", "b"], ["a"], "right")], (1, 1), (1, 1), 0, id="found"),
        pytest.param(
            [Marked(["b", "c", "d", "a"], ["a"], "right")], (0, 1), (1, 1), 0, id="fourth is too late"
        ),
        pytest.param([Marked(["b"], ["a", "b"], "wrong")], (1, 2), (0, 1), 0, id="one was missed"),
        pytest.param([Marked([], [], "right")], (0, 0), (1, 1), 0, id="rightly empty"),
        pytest.param([Marked([], ["a"], "wrong")], (0, 1), (0, 1), 0, id="wrongly empty"),
        pytest.param([Marked(["a"], ["a", "a"], "right")], (1, 1), (1, 1), 0, id="marked twice"),
        pytest.param([Marked(["a"], ["a"], "unsure")], (0, 0), (0, 0), 1, id="unsure counts for nothing"),
    ],
)
def test_figures__marks__are_counted(
    marked: list[Marked], recall: tuple[int, int], right: tuple[int, int], unsure: int
) -> None:
    figures = figures_of(marked, unreviewed=2)

    assert (figures.recall.hits, figures.recall.n) == recall
    assert (figures.right.hits, figures.right.n) == right
    assert (figures.unsure, figures.unreviewed) == (unsure, 2)
    assert not figures.recall.is_known
