"""What a path learns from its uses."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.rewards import RATE, correct, learn, observed_reward, result_of_use

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("result", "reward", "expected"),
    [
        pytest.param("success", None, 1.0, id="success"),
        pytest.param("failure", None, 0.0, id="failure"),
        pytest.param("success", 0.6, 0.6, id="reward given"),
        pytest.param("failure", 0.2, 0.2, id="partly right"),
        pytest.param("success", 40.0, 1.0, id="reward above one"),
        pytest.param("failure", -3.0, 0.0, id="negative reward"),
    ],
)
def test_observed_reward__result_and_reward__is_between_0_and_1(
    result: str, reward: float | None, expected: float
) -> None:
    assert observed_reward(result, reward) == expected


@pytest.mark.parametrize(
    ("said", "outcome", "expected"),
    [
        pytest.param("unknown", "unknown", "unknown", id="nobody said anything"),
        pytest.param("unknown", "success", "success", id="task succeeded"),
        pytest.param("unknown", "failure", "failure", id="task failed"),
        pytest.param("success", "unknown", "success", id="agent alone"),
        pytest.param("success", "failure", "failure", id="agent overruled"),
        pytest.param("failure", "success", "failure", id="solved in another way"),
    ],
)
def test_result_of_use__word_and_outcome__one_counts(said: str, outcome: str, expected: str) -> None:
    assert result_of_use(said, outcome) == expected


def test_learn__successes_in_a_row__approach_one_and_one_failure_costs_its_share() -> None:
    rewards = [0.1]
    for _ in range(10):
        rewards.append(learn(rewards[-1], 1.0))

    assert all(one < other < 1 for one, other in pairwise(rewards))
    assert learn(rewards[-1], 0.0) == pytest.approx(rewards[-1] * (1 - RATE))


@given(start=SHARES, seen=st.lists(SHARES, min_size=1, max_size=8), place=st.integers(0, 7), truth=SHARES)
def test_correct__late_truth__is_as_if_it_had_been_known(
    start: float, seen: list[float], place: int, truth: float
) -> None:
    place %= len(seen)
    as_told, as_true = start, start
    for index, observed in enumerate(seen):
        as_told = learn(as_told, observed)
        as_true = learn(as_true, truth if index == place else observed)

    late = correct(as_told, was=seen[place], now=truth, later_uses=len(seen) - 1 - place)

    assert late == pytest.approx(as_true, abs=1e-9)
    assert 0 <= late <= 1
