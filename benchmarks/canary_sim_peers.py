"""What others do with the same tasks, checked after every one of them: written from their documents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.canary_sim_replay import NEVER, Ints
from benchmarks.canary_sim_worlds import Draws

Floats = NDArray[np.float64]
TUNED_FOR = 5_000.0


@dataclass(frozen=True)
class Verdicts:
    """For each run the number of tasks at which harm, or benefit, was called; ``NEVER`` if it was not."""

    harm: Ints
    benefit: Ints


@dataclass(frozen=True)
class Arms:
    """Running counts of both arms (runs x tasks): tasks and failures; means and variances of success."""

    canary_n: Ints
    control_n: Ints
    canary_failed: Ints
    control_failed: Ints

    @classmethod
    def of(cls, draws: Draws, share: float) -> "Arms":
        """At a fixed share."""
        canary = draws.in_canary(share)
        failed = draws.failed(canary)
        return cls(*(mask.cumsum(1) for mask in (canary, ~canary, canary & failed, ~canary & failed)))

    def moments(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Success rates of canary and control, and the sample variances of one task in each."""
        found = []
        for n, failed in ((self.canary_n, self.canary_failed), (self.control_n, self.control_failed)):
            mean = 1.0 - failed / np.maximum(n, 1)
            found.append((mean, mean * (1.0 - mean) * n / np.maximum(n - 1, 1)))
        (canary, canary_variance), (control, control_variance) = found
        return canary, control, canary_variance, control_variance


def confidence_sequence(arms: Arms, alpha: float = 0.05) -> Verdicts:
    """GrowthBook's sequential setting: an asymptotic confidence sequence, tightest at N* = 5,000 tasks.

    Two-sided, equations 9 and 161 of Waudby-Smith et al. (arXiv 2103.06476v7), as GrowthBook's documents say;
    no smallest number of conversions is asked for.
    """
    canary, control, canary_variance, control_variance = arms.moments()
    error = np.sqrt(
        canary_variance / np.maximum(arms.canary_n, 1) + control_variance / np.maximum(arms.control_n, 1)
    )
    n = arms.canary_n + arms.control_n
    rho2 = (-2.0 * np.log(alpha) + np.log(1.0 - 2.0 * np.log(alpha))) / TUNED_FOR
    grown = n * rho2 + 1.0
    half = error * np.sqrt(2.0 * grown * np.log(np.sqrt(grown) / alpha) / (n * rho2))
    ready = (arms.canary_n > 1) & (arms.control_n > 1) & (error > 0)
    return Verdicts(_first(ready & (control - canary > half)), _first(ready & (canary - control > half)))


def repeated_z_test(arms: Arms, min_tasks: int = 10) -> Verdicts:
    """The two-proportion z-test at 5 %, two-sided, made for one look and looked at after every task."""
    canary, control, _canary_variance, _control_variance = arms.moments()
    n = arms.canary_n + arms.control_n
    pooled = (arms.canary_failed + arms.control_failed) / n
    variance = pooled * (1.0 - pooled)
    error = np.sqrt(variance / np.maximum(arms.canary_n, 1) + variance / np.maximum(arms.control_n, 1))
    ready = (n >= min_tasks) & (arms.canary_n > 0) & (arms.control_n > 0) & (error > 0)
    bound = 1.959963984540054 * error
    return Verdicts(_first(ready & (control - canary > bound)), _first(ready & (canary - control > bound)))


def chance_to_win(arms: Arms, floor_n: int = 50, floor_conversions: int = 5) -> Verdicts:
    """Flagsmith's rule: over 95 % chance to beat control is winning, under 5 % losing.

    Normal posterior of the relative lift with a flat prior; nothing is said before every arm has 50 tasks and
    5 conversions (Flagsmith's documents, "Statistics Glossary" and "Analyse an Experiment", 2026). A
    conversion is a task that did not fail.
    """
    canary, control, canary_variance, control_variance = arms.moments()
    safe = np.maximum(control, 1e-12)
    variance = canary_variance / np.maximum(arms.canary_n, 1) / safe**2
    variance += canary**2 * control_variance / np.maximum(arms.control_n, 1) / safe**4
    lift = (canary - control) / safe
    bound = 1.6448536269514722 * np.sqrt(variance)
    ready = np.minimum(arms.canary_n, arms.control_n) >= floor_n
    ready &= np.minimum(arms.canary_n - arms.canary_failed, arms.control_n - arms.control_failed) >= (
        floor_conversions
    )
    return Verdicts(_first(ready & (-lift > bound)), _first(ready & (lift > bound)))


def _first(called: NDArray[np.bool_]) -> Ints:
    return np.where(called.any(1), called.argmax(1) + 1, NEVER)
