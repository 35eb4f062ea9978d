"""Ranking: what is followed, what is avoided, what is left, and in which order."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.locating.ranking import MAX_RANKED, rank
from memory.domain.locating.scoring import Weights
from memory.domain.locating.shapes import Candidate, Query
from memory.domain.paths.document import PathResult
from tests.memory.domain.locating.corpus import CHINESE, ENGLISH, make_candidate, make_doc, make_memory

LOOK = "Look up the status of an order"


def found(query: Query, candidates: list[Candidate]) -> list[int]:
    return [scored.id for scored in rank(query, candidates).found]


@pytest.mark.parametrize(
    ("goal", "right"),
    [
        pytest.param("Tell me how many of the orders are open", 0, id="longer"),
        pytest.param("Who is the customer that spent the most?", 1, id="who"),
        pytest.param("Give me the open orders sorted by date", 2, id="sorted"),
        pytest.param("Refund an order's payment, please", 3, id="another order of words"),
        pytest.param("I want to book flights to Paris", 4, id="plural"),
    ],
)
def test_rank__english_paraphrase__finds_its_path_first(goal: str, right: int) -> None:
    assert found(Query(goal, min_score=0.0), make_memory(ENGLISH))[0] == right


@pytest.mark.parametrize(
    ("goal", "right"),
    [
        pytest.param("帮我查一下订单的状态", 0, id="status"),
        pytest.param("用户要求退款，取消他的订单", 1, id="refund"),
        pytest.param("订一张到上海的火车票", 2, id="train"),
        pytest.param("各部门有多少员工？", 3, id="count"),
    ],
)
def test_rank__chinese_paraphrase__finds_its_path_first(goal: str, right: int) -> None:
    assert found(Query(goal, min_score=0.0), make_memory(CHINESE))[0] == right


@pytest.mark.parametrize("goal", ["Translate this poem into Welsh", "把这首诗翻译成法语"])
def test_rank__nothing_of_the_kind__is_empty(goal: str) -> None:
    answer = rank(Query(goal), make_memory((*ENGLISH, *CHINESE)))

    assert answer.found == answer.avoid == answer.templates == ()
    assert {scored.left_out for scored in answer.rest} == {"below min_score"}


def test_rank__no_candidates__is_empty() -> None:
    assert rank(Query("anything"), []).found == ()


def test_rank__the_same_goal__is_certain() -> None:
    (best, *_) = rank(Query("  how many ORDERS are open? "), make_memory(ENGLISH)).found

    assert (best.id, best.score) == (0, pytest.approx(1.0))


RESERVATION = ("get_reservation_details", "EHGLP3")
ONE_TOOL = (
    "Cancel the reservation of Ada and refund the ticket",
    "Add a checked bag for Bob Stone",
    "Change the seat of Chen Wei to a window",
    "Tell the customer when the flight to Oslo leaves",
    "Sophia Silva wants to be paid for a delay",
)


@pytest.mark.parametrize(
    ("goal", "right"),
    [
        pytest.param("Cancel the reservation of Ada and refund the ticket", 0, id="exactly"),
        pytest.param("Cancel Ada's reservation and refund her ticket", 0, id="in other words"),
        pytest.param("Sophia Silva was delayed and wants to be paid", 4, id="another one"),
    ],
)
def test_rank__few_paths_that_all_used_one_tool__only_the_right_one_is_found(goal: str, right: int) -> None:
    memory = [make_candidate(at, make_doc(text, RESERVATION)) for at, text in enumerate(ONE_TOOL)]

    assert found(Query(goal), memory) == [right]


@pytest.mark.parametrize(
    ("known", "passes"),
    [
        pytest.param(["Book a flight with a gift card"], [0], id="one exact"),
        pytest.param(
            ["Book a flight with a gift card", "Please book me a flight using a gift card"],
            [0, 1],
            id="an exact one and one in other words",
        ),
    ],
)
def test_rank__an_exact_goal__does_not_vouch_for_paths_that_used_its_tool(
    known: list[str], passes: list[int]
) -> None:
    silva = "You are Sophia Silva, you want to cancel your flight because of a birthday"
    memory = make_memory(ENGLISH)
    mine = [make_candidate(at + 100, make_doc(goal, RESERVATION)) for at, goal in enumerate(known)]
    memory += [*mine, make_candidate(200, make_doc(silva, RESERVATION))]

    assert found(Query("book a flight with a gift card"), memory) == [place + 100 for place in passes]


def test_rank__attempts_at_one_goal__the_rewarded_one_stands_for_all() -> None:
    weak = make_candidate(1, make_doc(LOOK, ("guess", "order"), reward=0.4))
    good = make_candidate(2, make_doc(LOOK, ("get_order", "status"), reward=1.0))
    answer = rank(Query(LOOK), [weak, good])

    assert [(scored.id, scored.attempts) for scored in answer.found] == [(2, 2)]
    assert [(scored.id, scored.left_out) for scored in answer.rest] == [
        (1, "another attempt at the same goal")
    ]
    assert answer.rest[0].semantic == answer.found[0].semantic


def test_rank__the_best_attempt_has_other_tags__the_next_one_stands() -> None:
    good = make_candidate(1, make_doc(LOOK, ("get_order", "status"), reward=1.0, tags=("mail",)))
    tagged = make_candidate(2, make_doc(LOOK, ("find", "order"), reward=0.5, tags=("order",)))
    query = Query(LOOK, tags=("order",), min_score=0.9)

    assert found(query, [good, tagged]) == [2]


def test_rank__paths_without_a_goal__are_not_taken_for_attempts_at_one() -> None:
    docs = [make_doc("", ("ship", number), tags=("order",)) for number in range(2)]
    candidates = [make_candidate(number, doc) for number, doc in enumerate(docs)]

    assert sorted(found(Query("", tags=("order",)), candidates)) == [0, 1]


def test_rank__a_failed_attempt__is_apart_however_near() -> None:
    failed = make_candidate(1, make_doc(LOOK, ("guess", "order"), result="failure"))
    good = make_candidate(2, make_doc(LOOK, ("get_order", "status"), reward=1.0))
    answer = rank(Query(LOOK), [failed, good])

    assert [scored.id for scored in answer.found] == [2]
    assert [scored.id for scored in answer.avoid] == [1]


def test_rank__only_failures__are_all_avoided() -> None:
    failed = make_candidate(1, make_doc(LOOK, ("guess", "order"), result="failure"))
    answer = rank(Query("Look up an order's status"), [failed])

    assert answer.found == ()
    assert [scored.id for scored in answer.avoid] == [1]


@pytest.mark.parametrize(
    ("goal", "expected", "reason"),
    [
        pytest.param(LOOK, [], "a real path passed", id="a real one passes"),
        pytest.param("Order a fence that timed out", [9], "", id="only the template"),
        pytest.param("Paint the fence", [], "says nothing of it", id="about something else"),
    ],
)
def test_rank__template__only_when_nothing_real_passes_and_it_is_about_it(
    goal: str, expected: list[int], reason: str
) -> None:
    doc = make_doc("A call about an order or its status timed out", ("retry", "once"), result="template")
    template = make_candidate(9, doc)
    real = make_candidate(1, make_doc(LOOK, ("get_order", "status"), reward=1.0))
    answer = rank(Query(goal), [template, real])

    assert [scored.id for scored in answer.templates] == expected
    assert {scored.id: scored.left_out for scored in answer.rest}.get(9, "") == reason


def test_rank__tags__count_as_weighted() -> None:
    tagged = make_candidate(1, make_doc("Ship a parcel", ("ship", 1), tags=("order", "query")))
    other = make_candidate(2, make_doc("Ship a parcel abroad", ("ship", 2), tags=("refund",)))
    query = Query("", tags=("order", "query"))

    answer = rank(query, [tagged, other])

    assert [(scored.id, scored.score) for scored in answer.found] == [(1, pytest.approx(1.0))]
    assert answer.found[0].shares == Weights(1.0, 0.0, 0.0)


def test_rank__parts__add_up_to_the_score() -> None:
    doc = make_doc(LOOK, ("get_order", "status"), ("answer", "user"), tags=("order", "read"))
    query = Query(
        "Look up the order",
        tags=("order",),
        nodes=("get_order",),
        weights=Weights(0.2, 0.5, 0.3),
        min_score=0,
    )

    (best,) = rank(query, [make_candidate(1, doc)]).found

    assert best.tags == pytest.approx(0.5)
    assert best.structure == pytest.approx(2 / 3)
    assert best.score == pytest.approx(0.2 * best.tags + 0.5 * best.semantic + 0.3 * best.structure)


def test_rank__more_than_top_k__the_rest_says_so() -> None:
    answer = rank(Query("Which orders are open?", top_k=1, min_score=0.0), make_memory(ENGLISH))

    assert len(answer.found) == 1
    assert {scored.left_out for scored in answer.rest} == {"beyond top_k"}


def test_rank__too_many_candidates__the_nearest_are_ranked() -> None:
    near = replace(make_candidate(0, make_doc(LOOK, ("get_order", "status"))), nearness=0.9)
    far = [make_candidate(number, make_doc(f"Errand {number}", ("go", number))) for number in range(1, 400)]
    answer = rank(Query(LOOK), [*far, near])

    assert answer.found[0].id == 0
    assert len(answer.found) + len(answer.rest) == MAX_RANKED


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([row[0] for row in ENGLISH]), st.sampled_from(["success", "failure", "pending"])
        ),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_rank__candidates_in_any_order__the_answer_is_the_same(
    rows: list[tuple[str, PathResult]], random: object
) -> None:
    candidates = [
        make_candidate(number, make_doc(goal, ("tool", goal[:number]), result=result))
        for number, (goal, result) in enumerate(rows)
    ]
    shuffled = candidates.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (
        rank(Query("How many orders are open", min_score=0.2), list_) for list_ in (candidates, shuffled)
    )

    assert [scored.id for scored in (*one.found, *one.avoid)] == [
        scored.id for scored in (*other.found, *other.avoid)
    ]
    assert all(0.0 <= scored.score <= 1.0 for scored in (*one.found, *one.avoid, *one.rest))
    assert len(one.found) + len(one.avoid) + len(one.rest) == len(candidates)
