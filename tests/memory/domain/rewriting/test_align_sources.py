"""Where a value may come from, seen from one place of a path."""

import pytest

from memory.domain.paths.document import NodeDoc
from memory.domain.rewriting.align_sources import Moment, canonical, sources

BEFORE = (
    NodeDoc(
        name="1",
        tool="find",
        params={"word": "plan"},
        observation={"matches": ["./a/b/plan.txt", "./c/plan.md"]},
    ),
    NodeDoc(name="2", tool="price", params={"symbol": "AAX"}, observation={"quote": {"ask": 5.5}}),
)
AFTER = (
    NodeDoc(name="3", tool="read", params={"file": "a/b/plan.txt"}),
    NodeDoc(name="4", tool="log", params={"level": 2}),
)
MOMENT = Moment("goal", BEFORE, AFTER, "Gate 'north' has 3 locks. Open ones: left, right")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param(("next", "file"), "a/b/plan.txt", id="next_call"),
        pytest.param(("next", "file", "last piece"), "plan.txt", id="last_piece"),
        pytest.param(("next", "file", "piece before last"), "b", id="piece_before_last"),
        pytest.param(("next", "file", "all but last"), "a/b", id="all_but_last"),
        pytest.param(("previous", "symbol"), "AAX", id="call_before"),
        pytest.param(("earlier", "word"), "plan", id="earlier_by_name"),
        pytest.param(("earlier", "find", "word"), "plan", id="earlier_by_tool"),
        pytest.param(("later", "log", "level"), 2, id="later"),
        pytest.param(("returned", "price", "quote", "ask"), 5.5, id="observation"),
        pytest.param(
            ("returned", "find", "matches", "first", "first piece"), "a", id="piece_of_an_observation"
        ),
        pytest.param(("returned", "find", "matches", "last"), "./c/plan.md", id="last_of_a_list"),
        pytest.param(("said", "0"), "north", id="quoted_in_the_message"),
        pytest.param(("said", "1"), 3, id="number_in_the_message"),
        pytest.param(("said", "list"), ["left", "right"], id="list_in_the_message"),
    ],
)
def test_sources__a_moment__offers_the_value(key, value):
    assert sources(MOMENT)[key] == value


def test_sources__the_nearest_call_of_a_tool__counts():
    again = Moment("goal", (*BEFORE, NodeDoc(name="5", tool="price", params={"symbol": "BBX"})), AFTER)

    assert sources(again)["earlier", "symbol"] == "BBX"


def test_sources__an_endless_observation_and_message__are_cut():
    wide = NodeDoc(name="w", tool="dump", observation={str(number): number for number in range(100_000)})

    found = sources(Moment("goal", (wide,), (), ":" + " " * 100_000 + "."))

    assert len(found) <= 200


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(700, 700.0, True, id="number"),
        pytest.param(True, 1, False, id="true_is_not_one"),
        pytest.param("1", 1, False, id="text_is_not_number"),
        pytest.param({"a": [1, 2]}, {"a": [1.0, 2]}, True, id="nested"),
        pytest.param([1, 2], [2, 1], False, id="order"),
        pytest.param(None, False, False, id="nothing_is_not_false"),
    ],
)
def test_canonical__equal_json__is_equal(one, other, same):
    assert (canonical(one) == canonical(other)) == same
    assert isinstance(hash(canonical(one)), int)
