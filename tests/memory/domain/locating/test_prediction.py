"""What the neighbours did tells what a goal needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.locating.entries import bag_of
from memory.domain.locating.prediction import likeness, predict

GOALS = [
    "How many singers are there?",
    "Count the pets.",
    "How many pets are there?",
    "List the names of all singers.",
    "Show the names of the pets.",
]
ACTIONS = [
    "select count(*) from singer",
    "select count(*) from pets",
    "select count(*) from pets",
    "select name from singer",
    "select name from pets",
]


def judge(goal: str) -> tuple[np.ndarray, np.ndarray]:
    alike = likeness(bag_of(goal), [bag_of(goal) for goal in GOALS], [bag_of(text) for text in ACTIONS])
    prediction = predict(alike)
    return prediction.semantic, prediction.explained


def test_predict__words_that_only_neighbours_connect__finds_the_right_actions() -> None:
    semantic, _ = judge("Count the singers.")

    assert int(semantic.argmax()) == 0  # shares "count the" with the pets, but was done as this one was


def test_predict__known_goal__is_nearly_certain() -> None:
    semantic, explained = judge(GOALS[3])

    assert int(semantic.argmax()) == 3
    assert semantic[3] > 0.8
    assert explained[3] > 0.9
    assert explained[[0, 1, 2, 4]].max() < 0.5  # the exact goal does not vouch for the others


def test_predict__nothing_like_it__explains_little() -> None:
    semantic, explained = judge("Transfer 200 dollars to my savings account")

    assert explained.max() < 0.3
    assert semantic.max() < 0.3


def test_predict__one_candidate__is_no_surer_than_it_is_like() -> None:
    alike = likeness(bag_of("Count the pets of Ann"), [bag_of("Count pets")], [bag_of("select count")])
    prediction = predict(alike)

    assert prediction.agreement[0] == pytest.approx(1.0)
    assert prediction.semantic[0] <= float(alike.asked[0])


@settings(deadline=None)
@given(
    st.text(max_size=80),
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=8),
)
def test_predict__any_texts__between_0_and_1(goal: str, rows: list[tuple[str, str]]) -> None:
    goals, actions = ([bag_of(text) for text in texts] for texts in zip(*rows, strict=True))
    semantic = predict(likeness(bag_of(goal), goals, actions)).semantic

    assert np.isfinite(semantic).all()
    assert semantic.min() >= 0.0
    assert semantic.max() <= 1.0


def test_likeness__vectors__count_beside_the_characters() -> None:
    bags = [bag_of("alpha beta"), bag_of("gamma delta")]
    vectors = [np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)]
    alike = likeness(bag_of("epsilon"), bags, bags, vector=vectors[1], vectors=vectors)

    assert alike.asked[1] > alike.asked[0] + 0.4


def test_likeness__a_vector_is_missing__the_others_still_count() -> None:
    bags = [bag_of("alpha beta"), bag_of("gamma delta")]
    vector = np.array([0, 1], dtype=np.float32)
    alike = likeness(bag_of("epsilon"), bags, bags, vector=vector, vectors=[None, vector])

    assert alike.asked[1] > alike.asked[0] + 0.4
    assert np.isfinite(predict(alike).semantic).all()
