"""Building: the paths of one execution, their steps, edges, parts and worth."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.building import MAX_POINTS, build_paths
from memory.domain.paths.checking import check_path
from memory.domain.paths.document import PathDoc
from memory.domain.paths.runs import Run, RunCall, RunFailure
from tests.memory.domain.paths.runs import call, run

DETOUR = run(call("find"), call("book", "Full."), call("search"), call("book", input={"n": 2}), call("pay"))


def built(item: Run) -> dict[str, PathDoc]:
    return {variant.key: variant.doc for variant in build_paths(item)}


def names(doc: PathDoc) -> list[str]:
    return [node.name for node in doc.nodes]


def ways(doc: PathDoc) -> list[tuple[str, str, str, str]]:
    return [(edge.source, edge.target, edge.condition, edge.label) for edge in doc.edges]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        pytest.param(run(call("a")), {"task:t": ("success", 1.0)}, id="straight"),
        pytest.param(run(call("a"), reward=0.5), {"task:t": ("success", 0.5)}, id="reward as told"),
        pytest.param(run(call("a"), reward=7.0), {"task:t": ("success", 1.0)}, id="reward beyond 1"),
        pytest.param(DETOUR, {"task:t": ("retry", 0.8), "success:t": ("success", 1.0)}, id="overcame"),
        pytest.param(
            run(call("a", "no"), call("b"), outcome="failure"), {"task:t": ("failure", 0.0)}, id="failed"
        ),
        pytest.param(run(call("a"), outcome="unknown"), {"task:t": ("pending", 0.1)}, id="nobody said"),
        pytest.param(
            run(call("a"), outcome="unknown", reward=0.0), {"task:t": ("failure", 0.0)}, id="only a reward"
        ),
        pytest.param(run(call("a", "no")), {"task:t": ("retry", 0.8)}, id="nothing worked but it did"),
        pytest.param(run(outcome="failure"), {"task:t": ("failure", 0.0)}, id="no call at all"),
    ],
)
def test_build__outcome__makes_these_variants(item: Run, expected: dict[str, tuple[str, float]]) -> None:
    assert {key: (doc.result, doc.reward) for key, doc in built(item).items()} == expected


def test_build__detour__branches_where_it_failed() -> None:
    doc = built(DETOUR)["task:t"]

    assert names(doc) == ["find", "book", "error", "prepare", "search", "book_2", "pay"]
    assert [node.kind for node in doc.nodes[1:4]] == ["action", "event", "decision"]
    assert doc.nodes[3].content == "First call search, then try book again"
    assert ways(doc) == [
        ("find", "book", "ok", ""),
        ("book", "error", "error: Full.", "failed"),
        ("error", "prepare", "", ""),
        ("prepare", "search", "", "prepare"),
        ("search", "book_2", "ok", ""),
        ("book_2", "pay", "ok", ""),
        ("book", "pay", "ok", "worked at once"),
    ]


def test_build__detour__success_path_is_without_it() -> None:
    assert names(built(DETOUR)["success:t"]) == ["find", "search", "book", "pay"]


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        pytest.param([call("a", "no"), call("a", input={"x": 1})], "Try a again with other x", id="retry"),
        pytest.param(
            [call("a", "no", input={"x": 1}), call("a", input={"x": 1})], "Try a again unchanged", id="same"
        ),
        pytest.param([call("a", "no"), call("b")], "Switch to b", id="switch"),
        pytest.param(
            [call("a", "no", input={"q": "cost of tea"}), call("a", input={"q": "list shops"})],
            "Call a with another input (q) instead",
            id="the same tool for another end",
        ),
        pytest.param(
            [
                call("a", "no", input={"q": "cost of tea"}),
                call("a", input={"q": "list shops"}),
                call("a", input={"q": "cost of green tea"}),
            ],
            "First call a with another input (q), then try the failed call again",
            id="the same tool in between",
        ),
        pytest.param([call("a", "no")], "Stop", id="stop"),
    ],
)
def test_build__failure__says_what_the_agent_decided(calls: list[RunCall], said: str) -> None:
    doc = built(run(*calls, outcome="failure"))["task:t"]

    assert [node.content for node in doc.nodes if node.kind == "decision"] == [said]


def test_build__tries_of_one_call__are_one_node_with_all_of_them() -> None:
    tries = [call("book", f"no {n}", input={"n": n}, duration_ms=10.0) for n in range(12)]

    node = built(run(*tries, call("book", input={"n": 99})))["task:t"].nodes[0]

    assert node.params == {"n": 11}
    assert [attempt["error"] for attempt in node.details["attempts"]][:2] == ["no 0", "no 3"]
    assert (len(node.details["attempts"]), node.details["attempts_left_out"]) == (10, 2)
    assert (node.details["ms"], node.details["seq"]) == (120.0, list(range(12)))


def test_build__looks_repeated__are_one_node_with_a_count() -> None:
    doc = built(run(call("get_x"), call("get_x"), call("get_x")))["task:t"]

    assert [node.details["repeats"] for node in doc.nodes] == [3]


def test_build__thoughts_and_note__are_kept_beside_the_steps() -> None:
    failure = RunFailure("wrong", pattern="some-pattern")
    item = run(call("a"), outcome="failure", note="Not what was asked", thoughts={0: "I try a."})

    doc = built(
        Run(**{name: getattr(item, name) for name in Run.__struct_fields__} | {"task_failure": failure})
    )

    details = doc["task:t"].nodes[-1].details
    assert details["reasoning"] == "I try a."
    assert details["end"] == {"note": "Not what was asked", "pattern": "some-pattern"}


def test_build__huge_values__are_cut_and_say_so() -> None:
    node = built(run(call("a", input={"text": "x" * 50_000, "n": 1}, output=["y" * 90_000])))["task:t"].nodes[
        0
    ]

    assert node.params["n"] == 1
    assert node.params["text"].endswith("…")
    assert (len(node.params["text"]), len(node.observation)) < (8_001, 4_001)
    assert node.details["params_cut"] is True


def test_build__very_long_run__keeps_both_ends_and_counts_the_rest() -> None:
    calls = [call(f"t{n}") for n in range(300)]
    shown = Run(external_id="t", calls=[*calls[:240], *calls[-50:]], outcome="success", head=240, left_out=10)

    doc = built(shown)["task:t"]

    gap = next(node for node in doc.nodes if node.name == "left out")
    assert len(doc.nodes) == MAX_POINTS
    assert (doc.nodes[0].tool, doc.nodes[-1].tool) == ("t0", "t299")
    assert gap.details["left_out"] == 300 - (MAX_POINTS - 1)


def test_build__two_sub_goals__have_parts_with_their_own_goal_and_tries() -> None:
    item = run(
        call("flights.search", input={"to": "Paris"}),
        call("flights.book", "Full.", input={"to": "Paris", "n": 1}),
        call("flights.book", input={"to": "Paris", "n": 2}, output={"ticket": "TK100"}),
        call("hotels.search", input={"street": "Rivoli"}, reasoning="Now find a hotel. It must be near."),
        call("hotels.reserve", input={"room": "R777"}),
    )

    first, second = built(item)["task:t"].parts

    assert (first.level, first.span, first.result, first.goal) == (
        "subtask",
        (0, 4),
        "retry",
        "search, book",
    )
    assert (second.span, second.result, second.goal) == ((5, 6), "success", "Now find a hotel.")
    tries = first.parts[0]
    assert (tries.level, tries.span, tries.result, tries.goal) == (
        "tool",
        (1, 4),
        "retry",
        "flights.book: Full.",
    )
    assert names(tries) == ["flights.book", "error", "retry", "flights.book_2"]


def test_build__turns_of_several_calls__divide_the_run() -> None:
    first = [
        call("get_stock", input={"symbol": "AAPL"}, step=1),
        call("buy", input={"symbol": "AAPL"}, step=1),
    ]
    second = [
        call("get_stock", input={"symbol": "MSFT"}, step=2),
        call("sell", input={"symbol": "MSFT"}, step=2),
    ]

    parts = built(run(*first, *second))["task:t"].parts

    assert [(part.level, part.span) for part in parts] == [("subtask", (0, 1)), ("subtask", (2, 3))]


def test_build__one_goal_throughout__has_no_subtasks() -> None:
    calls = [call("get_flight", input={"id": f"HAT{n}"}) for n in range(6)]

    assert built(run(*calls))["task:t"].parts == ()


tools = st.sampled_from(["get_a", "book.b", "book.c", "pay"])
calls = st.builds(
    call,
    tools,
    st.sampled_from(["", "", "Broken.", "Not found"]),
    input=st.dictionaries(st.sampled_from("xy"), st.sampled_from(["Rome", "Paris", 42]), max_size=2),
    output=st.sampled_from([None, "done", {"id": "HAT001"}]),
    reasoning=st.sampled_from(["", "", "Next. Go on"]),
)


@given(st.lists(calls, max_size=25), st.sampled_from(["success", "failure", "unknown"]))
def test_build__any_run__is_a_valid_path_that_loses_no_call(items: list[RunCall], outcome: str) -> None:
    paths = built(run(*items, outcome=outcome))

    for doc in paths.values():
        assert check_path(doc) == []
    walked = [seq for node in paths["task:t"].nodes for seq in node.details.get("seq", [])]
    assert walked == list(range(len(items)))
    if "success:t" in paths:
        kept = [seq for node in paths["success:t"].nodes for seq in node.details["seq"]]
        assert kept == [place for place, item in enumerate(items) if item.failure is None]


@given(st.lists(calls, min_size=1, max_size=25))
def test_build__any_run__subtasks_cover_all_of_it_once(items: list[RunCall]) -> None:
    doc = built(run(*items))["task:t"]

    spans = [part.span for part in doc.parts if part.level == "subtask" and part.span]
    if spans:
        assert (spans[0][0], spans[-1][1]) == (0, len(doc.nodes) - 1)
        assert all(other[0] == one[1] + 1 for one, other in itertools.pairwise(spans))
