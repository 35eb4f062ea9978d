"""How a question is read, and what its letters count."""

import pytest

from memory.domain.text_search import MAX_WORDS, least_score, read_question, weigh_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("How do we handle JSON?", ("how", "handle", "json"), id="short words are left out"),
        pytest.param("go", ("go",), id="unless there are no others"),
        pytest.param("error 42 again error", ("error", "42", "again"), id="numbers stay, each word once"),
        pytest.param("run_sql v1.2", ("run_sql", "v1.2"), id="names stay whole"),
        pytest.param("JSON 解析失败", ("json", "解析", "析失", "失败"), id="Han in pairs"),
        pytest.param("查", ("查",), id="one sign"),
        pytest.param("?!", (), id="no word"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_question__read__has_its_words(text: str, words: tuple[str, ...]) -> None:
    assert read_question(text).words == words


def test_question__very_long__is_cut() -> None:
    assert len(read_question(" ".join(f"word{number}" for number in range(1_000))).words) == MAX_WORDS


def test_weights__rare_words__count_more() -> None:
    common, rare, everywhere = weigh_words([50, 1, 100], 100)
    assert everywhere < common < rare


def test_least__the_more_letters_are_shared__the_higher() -> None:
    scores = [
        least_score(in_title=title, in_text=text, all_words=words)
        for title, text, words in [
            (True, True, True),
            (False, True, True),
            (False, False, True),
            (False,) * 3,
        ]
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == 0
