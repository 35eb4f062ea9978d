"""A canary's numbers made readable: arms side by side, the evidence bar, evidence over time. Pure.

``numbers`` everywhere are what a look stored (``Canary.evidence``, ``CanaryLook.numbers``): E-values are
natural logarithms, shares are buckets of 10,000, rates lie between 0 and 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite, log, log10
from typing import Any

from corrections.domain.canaries import BUCKETS
from corrections.domain.canary_counts import GUARDRAILS, ArmNumbers
from corrections.domain.effect.ratio import MISMATCH_P
from memory.domain.trends import Rate, rate_of

QUIET = 3.0
"""A guard is quiet while its E-value is below this."""
ENOUGH = 5
"""Below so many decided tasks in an arm its rate is not shown."""
LN10 = log(10)
NOTHING = ArmNumbers()


@dataclass(frozen=True)
class Arm:
    """One arm's numbers of a stage, or summed over stages, as rates."""

    name: str
    numbers: ArmNumbers = NOTHING

    @property
    def is_known(self) -> bool:
        """Whether its rates are shown."""
        return self.numbers.decided >= ENOUGH

    @property
    def failure_rate(self) -> Rate:
        """Failed tasks of the decided ones, with Wilson's interval."""
        return self.rate_of("failed")

    def rate_of(self, name: str) -> Rate:
        """``failed`` or a guardrail, of the tasks it is counted among."""
        return rate_of(self.numbers.count(name), self.numbers.among(name))

    def __add__(self, other: "Arm") -> "Arm":
        return Arm(self.name, self.numbers + other.numbers)


def read_arm(name: str, counts: Any) -> Arm:
    """An arm of ``CanaryStage.counts``; what is missing there is zero."""
    found = counts.get(name) if isinstance(counts, Mapping) else None
    given: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    return Arm(
        name, ArmNumbers(**{field.name: _count(given.get(field.name)) for field in fields(ArmNumbers)})
    )


def sum_arms(name: str, stages: Iterable[Any]) -> Arm:
    """The same arm over several stages' counts."""
    return sum((read_arm(name, counts) for counts in stages), start=Arm(name))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def read_number(numbers: Mapping[str, Any], name: str) -> float | None:
    """A finite number of a look, or None."""
    value = numbers.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def e_value(log_e: float) -> str:
    """An E-value for people, from its natural logarithm: ``0.4``, ``23``, ``38,000``, ``10^7.2``."""
    power = log_e / LN10
    if power >= 6:
        return f"10^{power:.1f}"
    value = 10.0**power
    if value >= 10_000:
        return f"{round(value, -3):,.0f}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 0.1 else "< 0.1"


def share_text(buckets: int) -> str:
    """A share in buckets as a percentage: ``10 %``, ``0.5 %``."""
    return f"{100 * buckets / BUCKETS:.4g} %"


BAR_WIDTH, BAR_HEIGHT = 200, 26


@dataclass(frozen=True)
class Bar:
    """Evidence on one log scale: harm to the left of the middle, benefit to the right.

    ``*_mark`` are where the thresholds stand, ``*_x`` and ``*_width`` the bars, all in drawing units.
    """

    harm_x: float
    harm_width: float
    benefit_x: float
    benefit_width: float
    harm_mark: float
    benefit_mark: float
    middle: float = BAR_WIDTH / 2
    width: int = BAR_WIDTH
    height: int = BAR_HEIGHT


def draw_bar(*, harm: float, benefit: float, alpha: float, live: int) -> Bar:
    """Bars for two natural log E-values; E of 1 or less draws nothing.

    Thresholds: harm 1 / ``alpha``, benefit ``live`` / ``alpha``.
    """
    harm_at, benefit_at = (log10(value) for value in limits(alpha, live))
    top = 1.25 * max(harm_at, benefit_at)
    middle = BAR_WIDTH / 2

    def long(log_e: float) -> float:
        return round(middle * min(max(log_e / LN10, 0.0) / top, 1.0), 1)

    return Bar(
        harm_x=middle - long(harm),
        harm_width=long(harm),
        benefit_x=middle,
        benefit_width=long(benefit),
        harm_mark=round(middle - middle * harm_at / top, 1),
        benefit_mark=round(middle + middle * benefit_at / top, 1),
    )


def limits(alpha: float, live: int) -> tuple[float, float]:
    """The E-values at which harm and benefit are taken for proven: 1 / alpha and live / alpha."""
    return 1 / alpha, max(live, 1) / alpha


@dataclass(frozen=True)
class Certainty:
    """How sure we are of the uplift: a word, and points of a hundred tasks (None: not enough data)."""

    word: str
    lower: float | None = None
    upper: float | None = None
    estimate: float | None = None


def certainty_of(uplift: Any, *, decided: Sequence[int]) -> Certainty:
    """Reads a stored interval ``{"estimate", "lower", "upper"}`` of differences in success rates.

    ``helps`` and ``harms`` exclude zero, ``open`` does not; ``unknown`` when an arm has fewer than
    ``ENOUGH`` decided tasks or there is no interval.
    """
    given: Mapping[str, Any] = uplift if isinstance(uplift, Mapping) else {}
    lower, upper, estimate = (read_number(given, name) for name in ("lower", "upper", "estimate"))
    if lower is None or upper is None or estimate is None or min(decided, default=0) < ENOUGH:
        return Certainty("unknown")
    word = "helps" if lower > 0 else "harms" if upper < 0 else "open"
    return Certainty(word, 100 * lower, 100 * upper, 100 * estimate)


@dataclass(frozen=True)
class Seen:
    """What a look saw: natural log E-values (None: nothing was tested yet), guardrails as E-values, the
    p-value of the split between the arms."""

    harm: float | None = None
    benefit: float | None = None
    guard: float | None = None
    guards: tuple[tuple[str, float], ...] = ()
    mismatch_p: float | None = None
    uplift: Any = None

    @property
    def loud(self) -> list[str]:
        """The guardrails that speak up."""
        return [name for name, value in self.guards if value >= QUIET]

    @property
    def is_mismatch(self) -> bool:
        """The split is not the one that was asked for: every verdict is blocked."""
        return self.mismatch_p is not None and self.mismatch_p < MISMATCH_P


def read_seen(numbers: Mapping[str, Any]) -> Seen:
    """Reads what :func:`corrections.domain.effect.judge` saw; what is missing or no number is None."""
    guards = numbers.get("guardrails")
    given: Mapping[str, Any] = guards if isinstance(guards, Mapping) else {}
    known = ((name, read_number(given, name)) for name in GUARDRAILS)
    return Seen(
        harm=read_number(numbers, "harm_log_e"),
        benefit=read_number(numbers, "benefit_log_e"),
        guard=read_number(numbers, "guard_log_e"),
        guards=tuple((name, value) for name, value in known if value is not None),
        mismatch_p=read_number(numbers, "mismatch_p"),
        uplift=numbers.get("uplift"),
    )
