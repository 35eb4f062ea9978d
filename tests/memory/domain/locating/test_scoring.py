"""Tags, structure, weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.locating.entries import entry_of
from memory.domain.locating.scoring import Weights, jaccard, overlap_score, structure_similarity
from tests.memory.domain.locating.corpus import make_doc

PATH = entry_of(make_doc("g", ("search", 1), ("compare", 2), ("book", 3)))


@pytest.mark.parametrize(
    ("tags", "nodes", "expected"),
    [
        pytest.param(["order", "query"], ["query", "parse_result", "answer"], 0.70, id="order path"),
        pytest.param(
            ["refund", "apply"], ["login", "check_refund_policy", "apply_refund"], 0.0, id="refund path"
        ),
    ],
)
def test_overlap_score__worked_example__as_the_arithmetic_says(
    tags: list[str], nodes: list[str], expected: float
) -> None:
    score = overlap_score(["order", "query"], path_tags=tags, path_nodes=nodes)

    assert score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param("ab", "ab", 1.0, id="same"),
        pytest.param("ab", "bc", 1 / 3, id="one of three"),
        pytest.param("ab", "", 0.0, id="one empty"),
        pytest.param("", "", 0.0, id="both empty"),
        pytest.param("aab", "ab", 1.0, id="repeated"),
    ],
)
def test_jaccard__two_sets__shared_over_all(one: str, other: str, expected: float) -> None:
    assert jaccard(list(one), list(other)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param(["search", "compare", "book"], 1.0, id="the path itself"),
        pytest.param(["SEARCH_0", " Compare", "book"], 1.0, id="names, capitals and spaces"),
        pytest.param(["search", "book"], (2 * 2 / 5 + 0) / 2, id="a step skipped"),
        pytest.param(["book", "compare", "search"], (2 * 1 / 6 + 0) / 2, id="backwards"),
        pytest.param(["search", "compare", "pay"], (2 * 2 / 6 + 2 * 1 / 4) / 2, id="another end"),
        pytest.param(["compare"], 2 * 1 / 4, id="one node"),
        pytest.param(["pay", "ship"], 0.0, id="nothing shared"),
        pytest.param(["", " "], 0.0, id="no names"),
    ],
)
def test_structure_similarity__nodes__minds_their_order(nodes: list[str], expected: float) -> None:
    assert structure_similarity(nodes, PATH) == pytest.approx(expected)


@given(st.lists(st.sampled_from(["search", "compare", "book", "pay"]), max_size=12))
def test_structure_similarity__any_nodes__between_0_and_1(nodes: list[str]) -> None:
    assert 0.0 <= structure_similarity(nodes, PATH) <= 1.0


@given(
    st.tuples(*[st.floats(0, 1000)] * 3),
    st.tuples(*[st.booleans()] * 3),
)
def test_weights__over_the_parts_that_apply__sum_to_1(
    given_weights: tuple[float, float, float], applies: tuple[bool, bool, bool]
) -> None:
    shares = Weights(*given_weights).over(tags=applies[0], semantic=applies[1], structure=applies[2])
    values = (shares.tags, shares.semantic, shares.structure)

    assert sum(values) == pytest.approx(1.0 if any(applies) else 0.0)
    assert all(value == 0 for value, does in zip(values, applies, strict=True) if not does)


def test_weights__only_a_part_that_weighs_nothing_applies__it_is_all() -> None:
    assert Weights().over(tags=False, semantic=False, structure=True) == Weights(0.0, 0.0, 1.0)


def test_weights__negative__refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Weights(tags=-0.1)
