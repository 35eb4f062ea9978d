"""A canary's numbers as people read them: arms, the evidence bar, how sure we are, the chart."""

from datetime import UTC, datetime, timedelta
from math import log
from typing import Any

import pytest

from corrections.domain.canary_chart import Look, Mark, draw_evidence
from corrections.domain.canary_figures import (
    certainty_of,
    draw_bar,
    e_value,
    read_arm,
    read_seen,
    share_text,
    sum_arms,
)
from memory.domain.charts import BASE, LEFT, RIGHT

START = datetime(2026, 3, 1, tzinfo=UTC)
UPLIFT = {"estimate": 0.2, "lower": 0.08, "upper": 0.3}


def test_read_arm__counts_of_a_stage__become_rates_of_the_decided() -> None:
    counts = {"control": {"exposed": 12, "decided": 10, "failed": 4, "slow": 2, "timed": 5}}

    arm = read_arm("control", counts)

    assert (arm.numbers.exposed, arm.failure_rate.value) == (12, 0.4)
    assert (arm.rate_of("slow").n, arm.rate_of("tool_error").n) == (5, 10)
    assert arm.is_known


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param({}, id="empty"),
        pytest.param(None, id="null"),
        pytest.param({"canary": 5}, id="no-mapping"),
        pytest.param({"canary": {"decided": -3, "failed": "x"}}, id="nonsense"),
    ],
)
def test_read_arm__nothing_to_read__is_zero_and_not_known(counts: Any) -> None:
    arm = read_arm("canary", counts)

    assert (arm.numbers.decided, arm.numbers.failed, arm.is_known) == (0, 0, False)


def test_sum_arms__stages__add_up() -> None:
    stages = [{"canary": {"decided": 4, "failed": 1}}, {}, {"canary": {"decided": 6, "failed": 2}}]

    total = sum_arms("canary", stages)

    assert (total.numbers.decided, total.numbers.failed) == (10, 3)


@pytest.mark.parametrize(
    ("log_e", "text"),
    [
        pytest.param(log(0.02), "< 0.1", id="tiny"),
        pytest.param(log(0.44), "0.4", id="below-one"),
        pytest.param(0.0, "1.0", id="one"),
        pytest.param(log(23.4), "23", id="tens"),
        pytest.param(log(2_801), "2,801", id="thousands"),
        pytest.param(log(38_412), "38,000", id="many-thousands"),
        pytest.param(log(16_000_000), "10^7.2", id="huge"),
        pytest.param(700.0, "10^304.0", id="beyond"),
    ],
)
def test_e_value__log__is_short(log_e: float, text: str) -> None:
    assert e_value(log_e) == text


def test_share_text__buckets__are_percent() -> None:
    assert [share_text(n) for n in (1_000, 9_500, 50, 1)] == ["10 %", "95 %", "0.5 %", "0.01 %"]


def test_draw_bar__at_the_thresholds__ends_at_the_marks() -> None:
    bar = draw_bar(harm=log(20), benefit=log(60), alpha=0.05, live=3)

    assert bar.harm_x == pytest.approx(bar.harm_mark, abs=0.1)
    assert bar.benefit_x + bar.benefit_width == pytest.approx(bar.benefit_mark, abs=0.1)
    assert bar.harm_mark < bar.middle < bar.benefit_mark


@pytest.mark.parametrize(
    ("log_e", "width"),
    [pytest.param(-3.0, 0.0, id="against"), pytest.param(600.0, 100.0, id="stays-inside")],
)
def test_draw_bar__extremes__stay_inside(log_e: float, width: float) -> None:
    assert draw_bar(harm=log_e, benefit=log_e, alpha=0.05, live=1).benefit_width == width


@pytest.mark.parametrize(
    ("uplift", "decided", "word"),
    [
        pytest.param(UPLIFT, (30, 30), "helps", id="above-zero"),
        pytest.param({**UPLIFT, "lower": -0.5, "upper": -0.01}, (30, 30), "harms", id="below-zero"),
        pytest.param({**UPLIFT, "lower": -0.1}, (30, 30), "open", id="around-zero"),
        pytest.param(UPLIFT, (30, 4), "unknown", id="few-in-one-arm"),
        pytest.param(UPLIFT, (), "unknown", id="no-arm"),
        pytest.param(None, (30, 30), "unknown", id="no-interval"),
        pytest.param({**UPLIFT, "lower": float("nan")}, (30, 30), "unknown", id="not-a-number"),
    ],
)
def test_certainty__interval_and_tasks__is_one_word(uplift: Any, decided: tuple[int, ...], word: str) -> None:
    assert certainty_of(uplift, decided=decided).word == word


def test_certainty__known__counts_in_hundreds() -> None:
    certainty = certainty_of(UPLIFT, decided=(30, 30))

    assert (certainty.lower, certainty.upper, certainty.estimate) == pytest.approx((8, 30, 20))


def test_read_seen__numbers_of_a_look__are_read_and_nonsense_is_none() -> None:
    seen = read_seen({"harm_log_e": 1.5, "benefit_log_e": "x", "guard_log_e": True, "mismatch_p": 0.0001,
                      "guardrails": {"slow": 3.5, "retried": 1.0, "unknown": 9.0}})  # fmt: skip

    assert (seen.harm, seen.benefit, seen.guard) == (1.5, None, None)
    assert (seen.loud, seen.is_mismatch) == (["slow"], True)
    assert not read_seen({}).is_mismatch


def test_draw_evidence__one_look__is_no_chart() -> None:
    assert draw_evidence([Look(START, 0.0, 0.0)], [], alpha=0.05, live=1) is None


def test_draw_evidence__looks__are_lines_with_thresholds_and_marks() -> None:
    looks = [Look(START + timedelta(days=day), None if day == 1 else -9.0, float(day)) for day in range(4)]
    marks = [Mark(START + timedelta(days=3), "ramp", 2), Mark(START - timedelta(days=1), "start", 1)]

    chart = draw_evidence(looks, marks, alpha=0.05, live=2)

    assert chart is not None
    assert (chart.benefit.dots[0][0], chart.benefit.dots[-1][0]) == (LEFT, RIGHT)
    assert [up for _across, up in chart.harm.dots] == [BASE, BASE, BASE]  # far below is drawn at the bottom
    assert len(chart.harm.segments) == 1
    assert chart.benefit_at < chart.harm_at < chart.even_at < BASE
    assert [(mark.number, mark.x) for mark in chart.marks] == [(2, RIGHT), (1, LEFT)]
