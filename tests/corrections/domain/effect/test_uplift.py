"""The interval of the uplift: what it estimates, that it narrows, and that it holds after every task."""

import numpy as np
import pytest

from corrections.domain.effect import ArmCounts, StageCounts, beta_mean, uplift, uplift_bounds

ESTIMATES = [
    pytest.param([(0.5, 100, 5, 100, 30)], 0.25, id="one-stage"),
    pytest.param([(0.5, 100, 30, 100, 5)], -0.25, id="harm"),
    pytest.param([(0.5, 10, 0, 10, 0)], 0.0, id="no-failure"),
    # Mantel-Haenszel weights 90 and 50: (90 * 0.1 + 50 * 0.3) / 140
    pytest.param([(0.1, 100, 10, 900, 180), (0.5, 100, 10, 100, 40)], 24 / 140, id="two-stages"),
    pytest.param([(0.1, 0, 0, 50, 50), (0.5, 40, 4, 40, 8)], 0.1, id="a-stage-without-an-arm-says-nothing"),
]


def _stages(rows: list[tuple[float, int, int, int, int]]) -> list[StageCounts]:
    return [
        StageCounts(share, ArmCounts(n1, failed1), ArmCounts(n0, failed0))
        for share, n1, failed1, n0, failed0 in rows
    ]


@pytest.mark.parametrize(("rows", "estimate"), ESTIMATES)
def test_uplift__counts__is_the_weighted_difference(
    rows: list[tuple[float, int, int, int, int]], estimate: float
) -> None:
    found = uplift(_stages(rows))

    assert found is not None
    assert found.estimate == pytest.approx(estimate)
    assert -1.0 <= found.lower < found.estimate < found.upper <= 1.0


@pytest.mark.parametrize("rows", [[], [(0.1, 0, 0, 50, 3)], [(0.1, 5, 0, 0, 0), (0.5, 0, 0, 9, 1)]])
def test_uplift__an_arm_without_a_task__is_unknown(rows: list[tuple[float, int, int, int, int]]) -> None:
    assert uplift(_stages(rows)) is None


def test_uplift__arms_swapped__is_the_mirror_image() -> None:
    one, other = uplift(_stages([(0.3, 30, 4, 70, 20)])), uplift(_stages([(0.7, 70, 20, 30, 4)]))

    assert one is not None
    assert other is not None
    assert (one.estimate, one.lower, one.upper) == pytest.approx(
        (-other.estimate, -other.upper, -other.lower)
    )


def test_uplift__more_tasks_or_less_certainty__is_narrower() -> None:
    few, many = (uplift(_stages([(0.5, n, n // 10, n, n // 5)])) for n in (100, 1_000))
    loose = uplift(_stages([(0.5, 100, 10, 100, 20)]), alpha=0.2)

    assert few is not None
    assert many is not None
    assert loose is not None
    assert many.upper - many.lower < (few.upper - few.lower) / 2
    assert loose.upper - loose.lower < few.upper - few.lower


def test_uplift__ten_million_tasks__is_sharp() -> None:
    found = uplift(_stages([(0.999, 9_990_000, 999_000, 10_000, 2_000)]))

    assert found is not None
    assert found.estimate == pytest.approx(0.1)
    assert 0.0 < found.upper - found.lower < 0.05


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0])
def test_uplift__certainty_that_cannot_be__is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        uplift(_stages([(0.5, 1, 0, 1, 0)]), alpha=alpha)


DRIFTS = [
    pytest.param(np.full(400, 0.05), np.full(400, 0.05), id="rare-failures"),
    pytest.param(np.full(400, 0.05), np.full(400, 0.30), id="harm"),
    pytest.param(np.linspace(0.02, 0.6, 400), np.linspace(0.02, 0.6, 400), id="drift"),
    pytest.param(np.repeat([0.02, 0.5], 200), np.repeat([0.02, 0.2], 200), id="an-effect-that-comes-late"),
]


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize(("control", "canary"), DRIFTS)
def test_interval__looked_at_after_every_task__holds(
    control: np.ndarray, canary: np.ndarray, share: float
) -> None:
    """300 runs of 400 tasks; a rate of 5 % would miss in 15 of them, and more than 25 almost never."""
    rng = np.random.default_rng(5)
    arm = rng.random((300, 400)) < share
    failed = rng.random((300, 400)) < np.where(arm, canary, control)
    counts = np.stack(
        [arm.cumsum(1), (arm & failed).cumsum(1), (~arm).cumsum(1), (~arm & failed).cumsum(1)], -1
    )

    _estimate, lower, upper = uplift_bounds(counts[:, :, None, :])

    truth = (control - canary).cumsum() / np.arange(1, 401)
    assert ((lower > truth) | (upper < truth)).any(1).sum() <= 25


MEANS = [
    pytest.param(ArmCounts(), 0.7, 0.7, id="nothing-but-the-backtest"),
    pytest.param(ArmCounts(8, 2), 0.5, 7 / 10, id="some-tasks"),
    pytest.param(ArmCounts(10**7, 0), 0.0, 1.0, id="many-tasks"),
]


@pytest.mark.parametrize(("arm", "prior", "expected"), MEANS)
def test_score__tasks_and_backtest__is_the_posterior_mean(
    arm: ArmCounts, prior: float, expected: float
) -> None:
    assert beta_mean(arm, prior=prior) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("prior", "weight"), [(-0.1, 1.0), (1.1, 1.0), (0.5, 0.0)])
def test_score__prior_that_cannot_be__is_refused(prior: float, weight: float) -> None:
    with pytest.raises(ValueError, match="prior"):
        beta_mean(ArmCounts(3, 1), prior=prior, weight=weight)
