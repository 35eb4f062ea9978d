"""What a message blames, what is masked, and when two failures are the same mistake."""

from typing import Any

import pytest

from memory.domain.failures import FailureFinding
from memory.domain.messages import CallWords, mask_message
from memory.domain.patterns import PatternKey, pattern_of


def make_pattern(
    message: str, call_input: Any = None, *, tool: str = "t", error_type: str = "error", domain: str = "d"
) -> PatternKey:
    finding = FailureFinding("output", error_type, message)
    return pattern_of(tool, finding, call_input or {}, {"domain": domain})


@pytest.mark.parametrize(
    ("message", "call_input", "identifier"),
    [
        pytest.param(
            "Table 'shop.orderz' doesn't exist",
            {"q": "select * from orderz"},
            "shop.orderz",
            id="quoted-dotted",
        ),
        pytest.param(
            "Unknown column 'nam' in 'field list'", {"q": "select nam from t"}, "nam", id="quoted-in-the-call"
        ),
        pytest.param("KeyError: 'city'", {}, "city", id="quoted-not-in-the-call"),
        pytest.param(
            "invalid value 'Pariss' for parameter 'city'",
            {"city": "Pariss"},
            "city",
            id="a-field-before-its-value",
        ),
        pytest.param(
            "f() got an unexpected keyword argument 'colour'", {"colour": "red"}, "colour", id="keyword"
        ),
        pytest.param('Unknown unit "kelvins"', {"unit": "kelvins"}, "kelvins", id="double-quotes"),
        pytest.param("找不到城市「北京市」", {"city": "北京市"}, "北京市", id="chinese-quotes"),
        pytest.param(
            "flight HAT030 not available on date 2024-05-13",
            {"f": [{"n": "HAT030"}]},
            "HAT030",
            id="code-in-the-call",
        ),
        pytest.param(
            "no such file: src/main.py", {"path": "src/main.py"}, "src/main.py", id="path-in-the-call"
        ),
        pytest.param(
            "cd: documents: No such directory", {"folder": "documents"}, "documents", id="a-whole-value"
        ),
        pytest.param(
            "no weather for New York today", {"q": ["New York"]}, "New York", id="a-value-of-two-words"
        ),
        pytest.param("Authentication required", {}, "", id="a-sentence-is-no-field"),
        pytest.param("Missing required parameter: startTime", {}, "startTime", id="named-parameter"),
        pytest.param("city is required", {}, "city", id="is-required"),
        pytest.param("the field amount must be positive", {"amount": -1}, "amount", id="named-field"),
        pytest.param("FUNCTION db.avg_of does not exist", {}, "db.avg_of", id="spelt-like-a-name"),
        pytest.param(
            "payment method card_7504069 not found", {"m": "card_7504069"}, "", id="long-ids-are-volatile"
        ),
        pytest.param("total is 305, but paid 255", {"paid": 255}, "", id="amounts-are-volatile"),
        pytest.param("order '550e8400-e29b-41d4-a716-446655440000' is closed", {}, "", id="uuid-is-volatile"),
        pytest.param("address '[redacted:email:12ab]' bounced", {}, "", id="marker-is-volatile"),
        pytest.param(
            "no such file: 2024_notes.txt", {"f": "2024_notes.txt"}, "2024_notes.txt", id="begins-with-digits"
        ),
        pytest.param(
            "no such file: 2024_notes.txt", {}, "2024_notes.txt", id="begins-with-digits-not-in-the-call"
        ),
        pytest.param("fields are missing: ['city', 'date']", {}, "city", id="a-short-list-of-names"),
        pytest.param("order 77 not found, there are: [12446, 'type']", {}, "", id="a-list-of-what-there-is"),
        pytest.param("Too many requests", {}, "", id="nothing-blamed"),
        pytest.param("", {}, "", id="empty"),
    ],
)
def test_pattern_of__message__blames_the_right_word(message: str, call_input: Any, identifier: str) -> None:
    assert make_pattern(message, call_input).identifier == identifier


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("total is 305, but paid 255", "total is 1,203.50, but paid 8", id="amounts"),
        pytest.param("closed at 2024-05-01T10:00:00Z", "closed at 2023-01-31 09:30:11.25", id="times"),
        pytest.param("lock 0x7ffe12 lost", "lock 0xdeadbeef lost", id="hex"),
        pytest.param("job 9f86d081884c7d659a2feaa0 died", "job 2c26b46b68ffc68ff99b453c died", id="hashes"),
        pytest.param("user user_10001 is gone", "user user_10002 is gone", id="record-ids"),
        pytest.param("choose one of ['a', 'b']", "choose one of ['a', 'b', 'c', 'd']", id="lists"),
        pytest.param("took 31ms", "took 4512ms", id="durations"),
        pytest.param(
            "Unknown column 'a' in 'field list'",
            "Unknown column 'a' in 'where clause'",
            id="other-quoted-words",
        ),
        pytest.param(
            "mail [redacted:email:aaaa] bounced", "mail [redacted:email:bbbb] bounced", id="markers"
        ),
        pytest.param("bad   \n spacing", "bad spacing", id="white-space"),
    ],
)
def test_pattern_of__only_literals_differ__is_the_same_mistake(first: str, second: str) -> None:
    assert make_pattern(first, {"q": "a"}).fingerprint == make_pattern(second, {"q": "a"}).fingerprint


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        pytest.param({}, False, id="the-same"),
        pytest.param({"message": "no table 'b'"}, True, id="other-name"),
        pytest.param({"message": "no view 'a'"}, True, id="other-sentence"),
        pytest.param({"tool": "u"}, True, id="other-tool"),
        pytest.param({"error_type": "X"}, True, id="other-type"),
        pytest.param({"domain": "e"}, True, id="same-name-in-another-scope"),
        pytest.param({"message": "no table", "domain": "e"}, True, id="no-name"),
    ],
)
def test_pattern_of__one_part_differs__fingerprints_tell(change: dict[str, str], differs: bool) -> None:
    base: dict[str, Any] = {"message": "no table 'a'", "call_input": {"q": "from a"}}

    assert (make_pattern(**base).fingerprint != make_pattern(**{**base, **change}).fingerprint) == differs


def test_pattern_of__nothing_blamed__is_one_mistake_in_every_scope() -> None:
    first, second = make_pattern("too many rows", domain="a"), make_pattern("too many rows", domain="b")

    assert first == second
    assert first.scope == ""


def test_pattern_of__fingerprint__does_not_change_between_versions() -> None:
    """A changed value means that stored patterns would be made a second time: then migrate them."""
    pattern = make_pattern(
        "Unknown column 'nam' in 'field list'", {"q": "select nam"}, tool="sql", domain="shop"
    )

    assert pattern.template == "Unknown column <q> in <q>"
    assert pattern.fingerprint == "b660329cf711117e115de4003ac24d6e"


@pytest.mark.parametrize(
    ("message", "call_input", "title"),
    [
        pytest.param("no table 'a'", {"q": "a"}, "t: no table 'a' (d)", id="name-and-scope"),
        pytest.param("paid 5 of 10", {}, "t: paid … of …", id="literals-as-dots"),
        pytest.param("no table 'd.a'", {"q": "a"}, "t: no table 'd.a'", id="scope-said-already"),
    ],
)
def test_pattern_of__title__is_one_readable_line(message: str, call_input: Any, title: str) -> None:
    assert make_pattern(message, call_input).title == title


def test_pattern_of__long_message__title_still_names_what_is_blamed() -> None:
    pattern = make_pattern("there is an error somewhere " * 7 + "near 'colour'", {"q": "colour"})

    assert pattern.title.endswith("… colour (d)")
    assert len(pattern.title) <= 160


def test_pattern_of__everything_long__everything_is_capped() -> None:
    long = "word " * 5_000
    pattern = make_pattern(long + "'x'", {"q": "y " * 100_000}, tool="t" * 200, domain="d" * 500)

    assert len(pattern.title) <= 160
    assert len(pattern.template) <= 400


def test_mask_message__apostrophes__are_no_quotes() -> None:
    masked = mask_message("It doesn't work and isn't 'a b' here", CallWords())

    assert masked.template == "It doesn't work and isn't <q> here"
    assert masked.identifier == "a b"
