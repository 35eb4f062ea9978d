"""Several canaries together, and the split between the arms."""

from itertools import combinations
from math import log

import pytest

from corrections.domain.effect import MISMATCH_P, e_bh, sample_ratio_p

REJECTED = [
    pytest.param([], set(), id="none"),
    pytest.param([20.0], {0}, id="one-at-the-bound"),
    pytest.param([19.9], set(), id="one-below"),
    pytest.param([39.0, 1.0], set(), id="alone-among-two"),
    pytest.param([40.0, 1.0], {0}, id="enough-among-two"),
    pytest.param([20.0, 20.0], {0, 1}, id="two-help-each-other"),
    pytest.param([1.0, 27.0, 31.0, 29.0], {1, 2, 3}, id="three-of-four-help-each-other"),
    pytest.param([30.0, 30.0, 1.0], {0, 1}, id="step-up"),
    pytest.param([1e9, 26.0, 1.0, 1.0], {0}, id="a-huge-one-carries-no-other"),
]


@pytest.mark.parametrize(("values", "rejected"), REJECTED)
def test_e_bh__e_values__rejects_the_largest_that_pass(values: list[float], rejected: set[int]) -> None:
    found = e_bh({key: log(value) for key, value in enumerate(values)}, 0.05)

    assert found == rejected


@pytest.mark.parametrize("values", [[3.0, 45.0, 21.0, 60.0, 8.0], [20.0] * 5, [1.0, 101.0, 2.0, 49.0, 51.0]])
def test_e_bh__any_values__is_the_largest_set_that_agrees_with_itself(values: list[float]) -> None:
    """Wang and Ramdas, definition: all of a set of size k reach m / (k alpha); e-BH takes the largest."""
    agreeing: list[tuple[int, ...]] = [()]
    for size in range(1, 6):
        agreeing += [
            keys
            for keys in combinations(range(5), size)
            if all(values[key] >= 5 / (size * 0.05) for key in keys)
        ]

    found = e_bh({key: log(value) for key, value in enumerate(values)}, 0.05)

    assert found == set(max(agreeing, key=len))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_e_bh__level_that_cannot_be__is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        e_bh({"a": 1.0}, alpha)


# Chi-square with one degree of freedom: p of 3.841 is .05, of 10.828 is .001.
RATIOS = [
    pytest.param([(0.5, 49, 50)], None, id="too-few"),
    pytest.param([(0.5, 50, 50)], 1.0, id="even"),
    pytest.param([(0.1, 10, 90)], 1.0, id="as-asked"),
    pytest.param([(0.5, 5_098, 4_902)], 0.04999, id="five-percent"),
    pytest.param([(0.1, 20, 80)], 0.000858, id="twice-as-many"),
    pytest.param([(0.1, 5, 45), (0.5, 100, 100)], 1.0, id="two-stages"),
    pytest.param([(0.1, 10, 40), (0.5, 60, 40)], 0.005750, id="two-stages-that-agree"),
]


@pytest.mark.parametrize(("stages", "p_value"), RATIOS)
def test_sample_ratio__exposed_tasks__has_the_chi_square_p(
    stages: list[tuple[float, int, int]], p_value: float | None
) -> None:
    assert sample_ratio_p(stages) == (p_value if p_value is None else pytest.approx(p_value, rel=1e-3))


def test_sample_ratio__one_arm_lost__is_a_mismatch() -> None:
    found = sample_ratio_p([(0.5, 9_120, 6_400)])

    assert found is not None
    assert found < MISMATCH_P


@pytest.mark.parametrize("stage", [(0.0, 1, 1), (1.0, 1, 1), (0.5, -1, 200)])
def test_sample_ratio__numbers_that_cannot_be__are_refused(stage: tuple[float, int, int]) -> None:
    with pytest.raises(ValueError, match="shares"):
        sample_ratio_p([stage])
