"""What goes with success: lift, interval, closed sequences, verdicts that chance does not make."""

import random

import pytest

from memory.domain.insights.lifts import closed_ones, lift_of, lift_over, rank_sequences
from memory.domain.insights.sequences import Count, Tools


def test_lift_of__counts__share_over_share_within_its_interval() -> None:
    lift = lift_of(Count(23, 5), Count(84, 116))

    assert lift is not None
    assert lift.value == pytest.approx((23 / 28) / (84 / 200))
    assert 1.0 < lift.low < lift.value < lift.high


@pytest.mark.parametrize(
    ("count", "whole"),
    [
        pytest.param(Count(5, 0), Count(5, 0), id="all won"),
        pytest.param(Count(0, 5), Count(0, 5), id="all lost"),
        pytest.param(Count(0, 0), Count(3, 5), id="never met"),
    ],
)
def test_lift_of__nothing_to_compare__none(count: Count, whole: Count) -> None:
    assert lift_of(count, whole) is None


def test_lift_of__same_tasks_ten_times__narrower() -> None:
    few, many = lift_of(Count(6, 2), Count(40, 40)), lift_of(Count(60, 20), Count(400, 400))

    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


def test_lift_of__no_effect__interval_holds_one_in_95_of_100() -> None:
    chance, missed = random.Random(3), 0
    for _ in range(2_000):
        cells = [0, 0, 0, 0]
        for _ in range(200):
            cells[2 * (chance.random() < 0.75) + (chance.random() < 0.4)] += 1
        lift = lift_of(Count(cells[1], cells[0]), Count(cells[1] + cells[3], cells[0] + cells[2]))
        missed += lift is None or not lift.low <= 1 <= lift.high

    assert 0.03 < missed / 2_000 < 0.07


@pytest.mark.parametrize(
    ("rows", "closed"),
    [
        pytest.param(
            {"ab": (3, 1), "abc": (3, 1), "bc": (4, 1)}, ["abc", "bc"], id="always inside the longer"
        ),
        pytest.param({"ab": (3, 1), "abc": (2, 2)}, ["ab", "abc"], id="as many, other ends"),
        pytest.param({"ab": (2, 0), "abcd": (2, 0), "abc": (2, 0)}, ["abcd"], id="two longer"),
    ],
)
def test_closed_ones__shorter_says_the_same__hidden(
    rows: dict[str, tuple[int, int]], closed: list[str]
) -> None:
    given = [(tuple(tools), Count(*count)) for tools, count in rows.items()]

    assert [
        "".join(tools) for (tools, _), keep in zip(given, closed_ones(given), strict=True) if keep
    ] == closed


def test_rank_sequences__strong_weak_rare__verdicts() -> None:
    rows: list[tuple[Tools, Count]] = [
        (("search", "book"), Count(40, 2)),
        (("cancel", "book"), Count(1, 40)),
        (("list", "book"), Count(21, 20)),
        (("odd", "book"), Count(3, 0)),
    ]

    ranks = rank_sequences(rows, Count(100, 100))

    assert [rank.verdict for rank in ranks] == ["winning", "losing", "unclear", "rare"]
    assert min(rank.strength for rank in ranks[:2]) > 1


def test_rank_sequences__many_without_effect__hardly_ever_a_verdict() -> None:
    chance, with_verdict = random.Random(7), 0
    for _ in range(40):
        whole = Count(200, 200)
        rows: list[tuple[Tools, Count]] = []
        for number in range(200):
            won = sum(chance.random() < 0.1 for _ in range(200))
            rows.append(((f"a{number}", "b"), Count(won, sum(chance.random() < 0.1 for _ in range(200)))))
        with_verdict += any(rank.verdict in ("winning", "losing") for rank in rank_sequences(rows, whole))

    assert with_verdict <= 6  # 5 % of 40 are expected; each has 200 tests


def test_rank_sequences__everything_succeeded__no_verdict() -> None:
    ranks = rank_sequences([(("a", "b"), Count(50, 0))], Count(60, 0))

    assert [(rank.verdict, rank.lift) for rank in ranks] == [("unclear", None)]


def test_rank_sequences__only_a_hard_domain_holds_it__no_verdict() -> None:
    """An easy and a hard domain; the sequence is in half of the hard one's tasks and does nothing there."""
    hard = Count(20, 80)
    whole, count = Count(20 + 90, 80 + 10), Count(10, 40)
    tools = ("search", "book")

    mixed = rank_sequences([(tools, count)], whole)
    apart = rank_sequences([(tools, count)], whole, {tools: [(count, hard)]})

    assert [rank.verdict for rank in (*mixed, *apart)] == ["losing", "unclear"]
    assert apart[0].lift is not None
    assert apart[0].lift.value == pytest.approx(1.0)


def test_rank_sequences__works_in_every_domain__winning() -> None:
    tools = ("look", "save")
    strata = [(Count(45, 1), Count(70, 30)), (Count(18, 4), Count(30, 70))]

    (rank,) = rank_sequences([(tools, Count(63, 5))], Count(100, 100), {tools: strata})

    assert rank.verdict == "winning"


def test_lift_over__no_effect_in_domains__interval_holds_one_in_about_95_of_100() -> None:
    chance, missed = random.Random(11), 0
    for _ in range(1_000):
        strata = []
        for base, tasks, share in ((0.8, 150, 0.2), (0.3, 100, 0.5)):
            won = [chance.random() < base for _ in range(tasks)]
            held = [chance.random() < share for _ in range(tasks)]
            both = sum(one and other for one, other in zip(won, held, strict=True))
            strata.append((Count(both, sum(held) - both), Count(sum(won), tasks - sum(won))))
        lift = lift_over(strata)
        missed += lift is None or not lift.low <= 1 <= lift.high

    assert missed / 1_000 < 0.07
