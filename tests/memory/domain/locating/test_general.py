"""How much of a question a template says."""

import pytest

from memory.domain.locating.entries import entry_of
from memory.domain.locating.general import MIN_SAID, share_said
from memory.domain.paths.starters import STARTERS


@pytest.mark.parametrize(
    ("question", "name"),
    [
        pytest.param("Delete the user's account", "confirm-before-write", id="a word of the goal"),
        pytest.param("Book a flight with a gift card", "confirm-before-write", id="another form of a word"),
        pytest.param("The search may return a timeout", "retry-then-fallback", id="a tag"),
        pytest.param("取消预订", "confirm-before-write", id="Chinese"),
    ],
)
def test_share__words_that_a_starter_says__reach_the_floor(question: str, name: str) -> None:
    doc = STARTERS[name]

    assert share_said(question, entry_of(doc), doc.tags) >= MIN_SAID


@pytest.mark.parametrize(
    "question",
    [
        "asdf qwer zxcv",
        "qwertyuiop asdfghjkl",
        "lorem ipsum dolor sit amet",
        "How many singers are there?",
        "What is that with this?",
        "天地玄黄宇宙洪荒",
        "a b c 1 2",
        "",
    ],
)
def test_share__nothing_in_common__stays_below_it(question: str) -> None:
    shares = [share_said(question, entry_of(doc), doc.tags) for doc in STARTERS.values()]

    assert max(shares) < MIN_SAID
