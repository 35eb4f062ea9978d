"""Histograms of durations: the error of a quantile, its interval, sums."""

import random
from collections import Counter
from statistics import quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.insights.histograms import (
    HIGHEST,
    LOWEST,
    RELATIVE_ERROR,
    bucket_of,
    merge,
    quantile,
    value_of,
)


@given(st.floats(min_value=0.02, max_value=1e9))
def test_bucket__any_duration__is_at_most_five_percent_off(ms: float) -> None:
    assert abs(value_of(bucket_of(ms)) - ms) <= (RELATIVE_ERROR + 1e-9) * ms


@pytest.mark.parametrize(
    ("ms", "bucket"),
    [(0.0, LOWEST), (-3.0, LOWEST), (1e-9, LOWEST), (1e300, HIGHEST), (float("nan"), HIGHEST), (1.0, 0)],
)
def test_bucket__odd_duration__is_clamped(ms: float, bucket: int) -> None:
    assert bucket_of(ms) == bucket


def test_quantile__lognormal_durations__is_near_the_exact_one() -> None:
    draw = random.Random(5)
    times = [draw.lognormvariate(4, 1) for _ in range(5_000)]
    buckets = Counter(map(bucket_of, times))
    exact = quantiles(times, n=20)

    for share, true in ((0.5, exact[9]), (0.95, exact[18])):
        found = quantile(buckets, share)
        assert found.is_known
        assert abs(found.value - true) <= 0.06 * true
        assert found.high is not None
        assert found.low < found.value < found.high


def test_quantile__interval__covers_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(7)
    hits = 0
    for _ in range(400):
        found = quantile(Counter(bucket_of(draw.expovariate(0.01)) for _ in range(200)), 0.5)
        assert found.high is not None
        hits += found.low <= 69.315 <= found.high

    assert hits >= 0.93 * 400


@pytest.mark.parametrize(
    ("n", "share", "is_known"),
    [(0, 0.5, False), (19, 0.5, False), (20, 0.5, True), (199, 0.95, False), (200, 0.95, True)],
)
def test_quantile__few_durations__is_not_known(n: int, share: float, is_known: bool) -> None:
    assert quantile({10: n}, share).is_known is is_known


def test_quantile__interval_beyond_the_largest__has_no_end() -> None:
    assert quantile({1: 100, 50: 1}, 0.99).high is None


def test_merge__histograms__are_summed_without_empty_buckets() -> None:
    assert merge([{3: 1, 1: 2}, {3: 4, 5: 0}]) == {1: 2, 3: 5}
