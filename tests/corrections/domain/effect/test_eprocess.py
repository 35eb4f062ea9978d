"""The evidence against exact values, against integration, and by enumeration of all that can happen."""

import json
from collections.abc import Callable
from functools import cache
from itertools import product
from math import comb, exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from corrections.domain.effect import (
    ArmCounts,
    StageCounts,
    benefit_log_e,
    harm_log_e,
    log_e,
    mean_log_e,
)

CASES = Path(__file__).parents[3] / "cases" / "effect"


def _cases(name: str) -> list[Any]:
    document = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return [pytest.param(case, document["tolerance"], id=case["id"]) for case in document["cases"]]


def _stage(share: float, canary_failed: int, control_failed: int) -> StageCounts:
    return StageCounts(
        share, ArmCounts(canary_failed, canary_failed), ArmCounts(control_failed, control_failed)
    )


@pytest.mark.parametrize(("case", "tolerance"), _cases("one_stage"))
def test_evidence__one_stage__has_the_exact_value(case: dict[str, Any], tolerance: float) -> None:
    stages = [_stage(case["share"], case["canary_failed"], case["control_failed"])]

    assert harm_log_e(stages) == pytest.approx(case["harm_log_e"], abs=tolerance)
    assert benefit_log_e(stages) == pytest.approx(case["benefit_log_e"], abs=tolerance)


@pytest.mark.parametrize(("case", "tolerance"), _cases("stages"))
def test_evidence__several_stages__multiplies(case: dict[str, Any], tolerance: float) -> None:
    stages = [
        StageCounts(row["share"], ArmCounts(**row["canary"]), ArmCounts(**row["control"]))
        for row in case["stages"]
    ]

    assert harm_log_e(stages) == pytest.approx(case["harm_log_e"], abs=tolerance)
    assert benefit_log_e(stages) == pytest.approx(case["benefit_log_e"], abs=tolerance)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.95])
@pytest.mark.parametrize(("canary_failed", "control_failed"), [(0, 0), (3, 1), (1, 12), (25, 30), (80, 4)])
def test_evidence__small_counts__is_the_integral_of_the_likelihood_ratio(
    share: float, canary_failed: int, control_failed: int
) -> None:
    def ratio(theta: float) -> float:
        harm = canary_failed * (np.log(theta) - log(share))
        return float(np.exp(harm + control_failed * (np.log1p(-theta) - np.log1p(-share))))

    peak = min(max(canary_failed / max(canary_failed + control_failed, 1), share), 1 - 1e-9)
    area = quad(ratio, share, peak, limit=200)[0] + quad(ratio, peak, 1 - 1e-15, limit=200)[0]

    assert float(log_e(canary_failed, control_failed, share)) == pytest.approx(
        log(area / (1 - share)), abs=1e-6
    )


LARGE = [
    pytest.param(5_000_000, 5_000_000, 0.5, -7.833256547834427, id="as-expected"),
    pytest.param(4_990_000, 5_010_000, 0.5, -9.927089561430838, id="fewer"),
    pytest.param(5_010_000, 4_990_000, 0.5, 12.859901965949337, id="more"),
    pytest.param(1_001_000, 8_999_000, 0.1, -7.840508359724537, id="tenth"),
]


@pytest.mark.parametrize(("canary_failed", "control_failed", "share", "expected"), LARGE)
def test_evidence__ten_million_failures__keeps_its_digits(
    canary_failed: int, control_failed: int, share: float, expected: float
) -> None:
    assert float(log_e(canary_failed, control_failed, share)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("share", [1e-4, 0.5, 1 - 1e-4])
@pytest.mark.parametrize(("canary_failed", "control_failed"), [(10**7, 0), (0, 10**7), (10**7, 10**7)])
def test_evidence__extreme_counts_and_shares__is_a_number(
    share: float, canary_failed: int, control_failed: int
) -> None:
    stages = [_stage(share, canary_failed, control_failed)]

    assert np.isfinite([harm_log_e(stages), benefit_log_e(stages)]).all()


def test_evidence__where_the_tail_underflows__goes_on_without_a_jump() -> None:
    failed = np.arange(700, 1_300)

    steps = np.diff(log_e(failed, 9_000 - failed, 0.3))

    assert (steps > 0).all()
    assert np.abs(np.diff(steps)).max() < 1e-3


def test_evidence__an_array__is_that_of_each() -> None:
    canary_failed, control_failed = np.array([[0], [4], [900]]), np.array([0, 3, 70_000])

    found = log_e(canary_failed, control_failed, 0.25)

    assert found.shape == (3, 3)
    for at, (one, other) in enumerate(product([0, 4, 900], [0, 3, 70_000])):
        assert found.flat[at] == pytest.approx(float(log_e(one, other, 0.25)), abs=1e-9)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5, 0.95])
@pytest.mark.parametrize("failures", [1, 2, 7, 40])
def test_evidence__no_effect__has_mean_one(share: float, failures: int) -> None:
    for evidence, own in ((harm_log_e, share), (benefit_log_e, 1 - share)):
        mean = sum(
            comb(failures, hit) * share**hit * (1 - share) ** (failures - hit)
            * exp(evidence([_stage(share, hit, failures - hit)]))
            for hit in range(failures + 1)
        )  # fmt: skip

        assert own > 0
        assert mean == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("real", [0.5, 0.9])
def test_evidence__rule_that_helps__says_less_for_harm_than_chance(share: float, real: float) -> None:
    theta = share * real
    mean = sum(
        comb(20, hit)
        * theta**hit
        * (1 - theta) ** (20 - hit)
        * exp(harm_log_e([_stage(share, hit, 20 - hit)]))
        for hit in range(21)
    )

    assert mean < 1.0


SHARES_OF_STAGE = (0.1, 0.5)


@cache
def _e(evidence: Callable[[Any], float], *counts: int) -> float:
    first, second = SHARES_OF_STAGE
    return exp(evidence([_stage(first, *counts[:2]), _stage(second, *counts[2:])]))


def _ramped(path: tuple[tuple[bool, bool], ...], evidence: Callable[[Any], float]) -> list[float]:
    """E after each task of a path of (with the rule, failed); after the first quiet look the share is .5."""
    counts = {share: [0, 0] for share in SHARES_OF_STAGE}
    share, found = SHARES_OF_STAGE[0], []
    for with_rule, failed in path:
        if failed:
            counts[share][0 if with_rule else 1] += 1
        found.append(_e(evidence, *counts[SHARES_OF_STAGE[0]], *counts[SHARES_OF_STAGE[1]]))
        if len(found) >= 2 and found[-1] < 1.5:
            share = SHARES_OF_STAGE[1]
    return found


def _probability(path: tuple[tuple[bool, bool], ...], rates: list[float], found: list[float]) -> float:
    share, probability = SHARES_OF_STAGE[0], 1.0
    for at, (with_rule, failed) in enumerate(path):
        probability *= share if with_rule else 1 - share
        probability *= rates[at] if failed else 1 - rates[at]
        if at >= 1 and found[at] < 1.5:
            share = SHARES_OF_STAGE[1]
    return probability


RATES = [
    pytest.param([0.5] * 6, id="half"),
    pytest.param([0.05] * 6, id="rare"),
    pytest.param([0.99, 0.9, 0.5, 0.3, 0.1, 0.01], id="drifting"),
    pytest.param([0.9, 0.1] * 3, id="in-turn"),
]


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("evidence", [harm_log_e, benefit_log_e])
def test_evidence__ramp_that_depends_on_it__stays_a_martingale(
    rates: list[float], evidence: Callable[[Any], float]
) -> None:
    """Every path of six tasks: after each the mean of E is 1, and at most a quarter ever reaches 4."""
    means, reached = np.zeros(6), 0.0
    for path in product(product((True, False), repeat=2), repeat=6):
        found = _ramped(path, evidence)
        probability = _probability(path, rates, found)
        means += probability * np.array(found)
        reached += probability * (max(found) >= 4.0)

    assert means == pytest.approx(np.ones(6), abs=1e-9)
    assert 0.0 <= reached <= 0.25


def test_mean__nothing__is_no_evidence() -> None:
    assert mean_log_e([]) == 0.0


def test_mean__e_values__is_theirs_even_if_they_are_huge() -> None:
    assert mean_log_e([log(2.0), log(4.0)]) == pytest.approx(log(3.0))
    assert mean_log_e([5_000.0, 0.0]) == pytest.approx(5_000.0 - log(2.0))
    assert mean_log_e([-5_000.0, -5_000.0]) == pytest.approx(-5_000.0)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_stage__share_outside__is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share of a stage"):
        StageCounts(share)


@pytest.mark.parametrize(("n", "failed"), [(1, 2), (3, -1), (-1, -1)])
def test_arm__counts_that_cannot_be__are_refused(n: int, failed: int) -> None:
    with pytest.raises(ValueError, match="between 0 and the number of tasks"):
        ArmCounts(n, failed)
