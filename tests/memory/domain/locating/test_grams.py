"""Words and character n-grams of any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.locating.grams import BUCKETS, bucket_weights, grams, weigh, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("How many Orders?", ["how", "many", "orders"], id="punctuation and capitals"),
        pytest.param("snake_case CamelCase", ["snake", "case", "camel", "case"], id="names in code"),
        pytest.param("HAT069 x2", ["hat", "069", "x", "2"], id="digits stand alone"),
        pytest.param("查询订单,notify用户", ["查询订单", "notify", "用户"], id="Chinese and Latin"),
        pytest.param("", [], id="nothing"),
        pytest.param("!?…", [], id="no word"),
    ],
)
def test_words__text__are_taken_apart(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_grams__latin_word__are_its_subwords_between_spaces() -> None:
    assert sorted(grams("open")) == sorted(
        [" op", "ope", "pen", "en ", " ope", "open", "pen ", " open", "open "]
    )


def test_grams__chinese__are_characters_and_pairs() -> None:
    assert list(grams("订单状态")) == ["订", "单", "状", "态", "订单", "单状", "状态"]


def test_grams__one_letter__is_not_lost() -> None:
    assert list(grams("a")) == [" a "]


def test_weigh__repeated__grows_slowly() -> None:
    once, often = weigh("open"), weigh("open open open")

    assert once["open"] == 1.0
    assert 2.0 < often["open"] < 3.0


@given(st.text(max_size=300))
def test_bucket_weights__any_text__are_positive_and_in_range(text: str) -> None:
    weights = bucket_weights(text)

    assert all(0 <= bucket < BUCKETS and weight >= 1.0 for bucket, weight in weights.items())
    assert weights == bucket_weights(text)
