"""What a workspace wants of localization."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.locating.policy import LocatePolicy, PartWeights, check_policy, read_policy
from memory.domain.locating.question import InvalidQuestionError
from memory.domain.locating.shapes import MIN_SCORE

WEIGHTS = st.floats(0, 1_000)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        pytest.param({}, LocatePolicy(), id="nothing set"),
        pytest.param({"paths": {"min_score": 0.7}}, LocatePolicy(min_score=0.7), id="one thing set"),
        pytest.param(
            {"paths": {"weights": {"tags": 1}, "auto_approve": True}},
            LocatePolicy(weights=PartWeights(tags=1)),
            id="beside what belongs to others",
        ),
        pytest.param(
            {"paths": {"min_score": 7, "verify_localizations": True}},
            LocatePolicy(verify_localizations=True),
            id="one of them unreadable",
        ),
        pytest.param({"paths": [1]}, LocatePolicy(), id="no object"),
    ],
)
def test_read_policy__settings__are_read_as_far_as_they_can_be(
    stored: dict[str, Any], expected: LocatePolicy
) -> None:
    assert read_policy(stored) == expected


def test_read_policy__defaults__are_the_documented_ones() -> None:
    policy = read_policy({})

    assert policy.weights.document() == {"tags": 0.4, "semantic": 0.6, "structure": 0.0}
    assert (policy.min_score, policy.verify_localizations) == (MIN_SCORE, False)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param({"min_score": 1.1}, "min_score", id="score above one"),
        pytest.param({"min_score": "high"}, "min_score", id="no number"),
        pytest.param({"weights": {"tags": -1}}, "weights.tags", id="negative"),
        pytest.param({"weights": {"colour": 1}}, "weights.colour", id="unknown part"),
        pytest.param({"weights": {"tags": 0, "semantic": 0}}, "weights", id="nothing counts"),
        pytest.param({"verify_localizations": "yes"}, "verify_localizations", id="no switch"),
        pytest.param({"max_score": 1}, "max_score", id="unknown setting"),
    ],
)
def test_check_policy__bad_value__names_the_field(document: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidQuestionError) as refusal:
        check_policy(document)

    assert refusal.value.errors[0].field == field


@given(tags=WEIGHTS, semantic=WEIGHTS, structure=WEIGHTS, which=st.tuples(*[st.booleans()] * 3))
def test_weights__renormalised__sum_to_one_over_the_parts_that_apply(
    tags: float, semantic: float, structure: float, which: tuple[bool, bool, bool]
) -> None:
    shares = (
        PartWeights(tags, semantic, structure)
        .shares()
        .over(tags=which[0], semantic=which[1], structure=which[2])
    )
    values = (shares.tags, shares.semantic, shares.structure)

    assert sum(values) == pytest.approx(1.0 if any(which) else 0.0)
    assert all(0 <= value <= 1 for value in values)
    assert all(applies or value == 0 for applies, value in zip(which, values, strict=True))
