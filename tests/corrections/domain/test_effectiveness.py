"""Effectiveness: a Beta posterior that forgets, and what it says about a rule."""

import pytest

from corrections.domain.beta import quantile, share_below
from corrections.domain.effectiveness import (
    MIN_OUTCOMES,
    Effect,
    Verdict,
    brier,
    expected,
    observe,
    observe_all,
    served,
)

# I_x(a, b) as tables give it; the last three are closed forms: x**a, 1 - (1 - x)**b, the symmetric middle.
SHARES = [
    pytest.param(0.5, 2.0, 3.0, 0.6875, id="small"),
    pytest.param(0.1, 0.5, 0.5, 0.20483276469913345, id="arcsine"),
    pytest.param(0.9, 10.0, 2.0, 0.6973568802, id="lopsided"),
    pytest.param(0.3, 4.0, 1.0, 0.3**4, id="power"),
    pytest.param(0.3, 1.0, 4.0, 1 - 0.7**4, id="power-from-above"),
    pytest.param(0.5, 700.0, 700.0, 0.5, id="large-and-symmetric"),
]


@pytest.mark.parametrize(("point", "alpha", "beta", "share"), SHARES)
def test_share_below__known_value__is_met(point: float, alpha: float, beta: float, share: float) -> None:
    assert share_below(point, alpha, beta) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize(("_point", "alpha", "beta", "_share"), SHARES)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_quantile__any_share__is_the_inverse(
    share: float, _point: float, alpha: float, beta: float, _share: float
) -> None:
    assert share_below(quantile(share, alpha, beta), alpha, beta) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize(
    ("share", "alpha"), [pytest.param(1.1, 1.0, id="share"), pytest.param(0.5, 0.0, id="parameter")]
)
def test_quantile__outside_its_range__is_refused(share: float, alpha: float) -> None:
    with pytest.raises(ValueError, match=r"share|parameters"):
        quantile(share, alpha, 1.0)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        pytest.param([], Verdict.UNKNOWN, id="none"),
        pytest.param([False] * (MIN_OUTCOMES - 1), Verdict.UNKNOWN, id="too-few"),
        pytest.param([False] * MIN_OUTCOMES, Verdict.RETIRE, id="never-helped"),
        pytest.param([True] * MIN_OUTCOMES, Verdict.KEEP, id="always-helped"),
        pytest.param([True, False] * 5, Verdict.KEEP, id="half"),
        pytest.param([True] + [False] * 12, Verdict.RETIRE, id="hardly-ever"),
        pytest.param([True] * 40 + [False] * 30, Verdict.RETIRE, id="stopped-helping"),
        pytest.param([False] * 40 + [True] * 30, Verdict.KEEP, id="came-to-help"),
    ],
)
def test_verdict__outcomes__says_what_they_mean(outcomes: list[bool], verdict: Verdict) -> None:
    assert observe_all(Effect(), outcomes).verdict is verdict


def test_effect__any_outcomes__bounds_hold_the_mean_and_more_data_draws_them_in() -> None:
    few, many = (observe_all(Effect(), [True, False, True] * n) for n in (1, 6))

    assert few.lower < few.mean < few.upper
    assert many.lower < many.mean < many.upper
    assert many.upper - many.lower < few.upper - few.lower


def test_observe__one_more_success__raises_and_one_more_failure_lowers() -> None:
    effect = observe_all(Effect(), [True, False, True])

    assert observe(effect, helped=False).mean < effect.mean < observe(effect, helped=True).mean


def test_observe__another_world__forgets_all_but_the_prior() -> None:
    effect = observe_all(Effect(0.7), [True] * 30, world="schema 1")

    changed = observe(effect, helped=False, world="schema 2")

    assert changed == observe(Effect(0.7, world="schema 2"), helped=False, world="schema 2")


def test_served__not_enough_data__is_none() -> None:
    assert served(observe_all(Effect(), [True, True])) is None
    assert served(observe_all(Effect(), [True, True, True])) == pytest.approx(0.737, abs=0.1)


@pytest.mark.parametrize(
    ("caught", "hit", "mean"),
    [
        pytest.param(0, 0, 0.5, id="nothing"), pytest.param(8, 0, 0.9, id="clean"),
        pytest.param(4, 4, 0.5, id="half"),
    ],
)  # fmt: skip
def test_expected__backtest__is_laplaces_rule(caught: int, hit: int, mean: float) -> None:
    assert expected(caught, hit) == pytest.approx(mean)


def test_expected__negative_count__is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        expected(-1, 0)


def test_brier__predictions__is_their_mean_squared_distance() -> None:
    assert brier([(1.0, True), (0.5, False)]) == pytest.approx(0.125)
    assert brier([]) is None
