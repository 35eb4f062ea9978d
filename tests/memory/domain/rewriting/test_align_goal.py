"""What a goal text offers as values."""

import pytest

from memory.domain.rewriting.align_goal import aliased_tokens, near, phrases, tokens


@pytest.mark.parametrize(
    ("goal", "shape", "value"),
    [
        pytest.param("by November 10th, 2026 please", "date", "2026-11-10", id="month_day_year"),
        pytest.param("on 3 March 2026", "date", "2026-03-03", id="day_month_year"),
        pytest.param("until 2026-02-28", "date", "2026-02-28", id="iso"),
        pytest.param("在2026年11月5日出发", "date", "2026-11-05", id="chinese_date"),
        pytest.param("for $1,200.50 only", "number", 1200.5, id="money"),
        pytest.param("buy 150 shares", "number", 150, id="integer"),
        pytest.param("call it 'final plan' now", "quoted", "final plan", id="quoted"),
        pytest.param("say 'it's on' now", "quoted", "it's on", id="apostrophe_inside"),
        pytest.param("打开「发票」", "quoted", "发票", id="chinese_quotes"),
        pytest.param("with token abc123xyz", "code", "abc123xyz", id="code"),
        pytest.param("read notes.txt", "code", "notes.txt", id="file"),
        pytest.param("sell ZETA today", "capitals", "ZETA", id="capitals"),
        pytest.param("from Port Salo to", "name", "Port Salo", id="name"),
        pytest.param("tag it #Go", "tag", "#Go", id="hash"),
        pytest.param("a first-rate seat", "word", "first", id="piece_of_a_compound"),
    ],
)
def test_tokens__a_goal__has_the_value_in_its_shape(goal, shape, value):
    assert (shape, value) in {(token.shape, token.value) for token in tokens(goal)}


def test_tokens__an_impossible_date__is_no_date():
    assert not [token for token in tokens("on February 30, 2026") if token.shape == "date"]


def test_tokens__an_endless_goal__is_cut():
    assert len(tokens("word 'x' " * 100_000)) <= 2_000


def test_aliased_tokens__a_phrase_of_the_goal__stands_for_the_value():
    (token,) = aliased_tokens("From Port Salo.", {"port salo": ["PSA"], "elsewhere": ["XX"]})

    assert (token.value, token.start) == ("PSA", 5)


def test_near__a_word__is_told_with_side_and_distance():
    goal = "the user name is bob now"
    (token,) = [token for token in tokens(goal) if token.value == "bob"]

    assert set(near(goal, token)) == {"<1is", "<is", "<name", "<user", "<the", ">1now", ">now"}


def test_phrases__names_and_words_of_a_script_without_capitals__are_found():
    assert {"new york", "york", "上海"} <= phrases("fly to New York or 上海 soon")
    assert "soon" not in phrases("fly to New York soon")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("'" * 20_000, id="quotes"),
        pytest.param("'a" * 10_000, id="open_quotes"),
        pytest.param("A " * 10_000, id="capitals"),
        pytest.param("a" + "." * 20_000, id="dots"),
        pytest.param("1," * 10_000, id="commas"),
        pytest.param("#" * 20_000, id="hashes"),
        pytest.param("x" * 20_000, id="one_word"),
        pytest.param("may 1 " * 4_000, id="half_dates"),
        pytest.param("\x00\ud800\u202e" * 3_000, id="odd_characters"),
    ],
)
def test_tokens__hostile_text__is_read_without_a_hitch(text):
    assert all(0 <= token.start < token.end <= len(text) for token in tokens(text))
    assert phrases(text) is not None
