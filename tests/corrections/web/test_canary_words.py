"""How sure we are of a canary, in one sentence with its numbers."""

import pytest

from corrections.domain.canary_counts import ArmNumbers
from corrections.domain.canary_figures import Arm, Certainty
from corrections.web.canary_words import certainty_said


@pytest.mark.parametrize(
    ("certainty", "said"),
    [
        pytest.param(Certainty("unknown"), "Not enough data: 40 tasks with the rule and 60", id="unknown"),
        pytest.param(Certainty("helps", 3.25, 9.0), "3.2 more go well with it. We are 95 % sure", id="helps"),
        pytest.param(Certainty("harms", -9.0, -2.5), "2.5 more fail with it. We are 95 % sure", id="harms"),
        pytest.param(Certainty("open", -4.0, 7.5), "between -4.0 and +7.5 more go well with it", id="open"),
    ],
)  # fmt: skip
def test_certainty__each_word__is_a_sentence_with_its_numbers(certainty: Certainty, said: str) -> None:
    arms = (Arm("canary", ArmNumbers(decided=40)), Arm("control", ArmNumbers(decided=60)))

    sentence = certainty_said(certainty, canary=arms[0], control=arms[1], alpha=0.05)

    assert said in sentence
    assert "40 tasks with" in sentence
