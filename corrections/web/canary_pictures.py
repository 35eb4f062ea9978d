"""A canary as its pages show it: arms, evidence, how sure we are, time left. Nothing is queried here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from corrections.domain.canaries import BUCKETS, policy_of
from corrections.domain.canary_counts import GUARDRAILS
from corrections.domain.canary_figures import (
    Arm,
    Bar,
    Certainty,
    Seen,
    certainty_of,
    draw_bar,
    limits,
    read_arm,
    read_seen,
    sum_arms,
)
from corrections.models import Canary, CanaryStage
from corrections.web.canary_words import certainty_said, time_left
from memory.domain.trends import Rate


@dataclass(frozen=True)
class StageRow:
    """A stage with its arms side by side."""

    stage: CanaryStage
    canary: Arm
    control: Arm
    shadow: Arm

    @property
    def is_left_out(self) -> bool:
        """It ended before the evidence that counts began: before a reset, or before the promotion."""
        since, ended = self.stage.canary.evidence_since, self.stage.ended_at
        return since is not None and ended is not None and ended <= since

    @property
    def exposed(self) -> int:
        """Tasks in both arms."""
        return self.canary.numbers.exposed + self.control.numbers.exposed


@dataclass(frozen=True)
class Picture:
    """One canary. ``stages`` are those of the phase it is in, oldest first, and ``canary`` and ``control``
    their sums; ``bar`` is None without evidence."""

    row: Canary
    phase: str
    stages: list[StageRow]
    canary: Arm
    control: Arm
    shadow: Arm
    seen: Seen
    bar: Bar | None
    certainty: Certainty
    sentence: str
    alpha: float
    live: int
    harm_limit: float
    benefit_limit: float
    time_left: str

    @property
    def split(self) -> float:
        """The share of the exposed tasks that were in the canary arm."""
        mine, theirs = self.canary.numbers.exposed, self.control.numbers.exposed
        return mine / max(mine + theirs, 1)

    @property
    def expected(self) -> float:
        """The share that should have been, weighed by the stages' tasks; 0 without any."""
        met = [(one.exposed, one.stage.share / BUCKETS) for one in self.stages]
        total = sum(n for n, _ in met)
        return sum(n * share for n, share in met) / total if total else 0.0


@dataclass(frozen=True)
class GuardRow:
    """A guardrail in both arms; ``value`` is its E-value, None while there is none."""

    name: str
    canary: Rate
    control: Rate
    value: float | None


def guard_rows(picture: Picture) -> list[GuardRow]:
    """Each guardrail with its rates side by side."""
    values = dict(picture.seen.guards)
    return [
        GuardRow(name, picture.canary.rate_of(name), picture.control.rate_of(name), values.get(name))
        for name in GUARDRAILS
    ]


def picture_of(row: Canary, *, live: int, now: datetime) -> Picture:
    """The picture of a canary with its stages prefetched; ``live`` canaries share the risk."""
    stages = list(row.stages.all())
    phase = stages[-1].phase if stages else "trial"
    current = [stage for stage in stages if stage.phase == phase]
    arms = {
        name: sum_arms(name, [stage.counts for stage in current]) for name in ("canary", "control", "shadow")
    }
    seen, alpha = read_seen(row.evidence), policy_of(row.policy).alpha
    certainty = certainty_of(
        seen.uplift, decided=[arms["canary"].numbers.decided, arms["control"].numbers.decided]
    )
    said = certainty_said(certainty, canary=arms["canary"], control=arms["control"], alpha=alpha)
    harm_limit, benefit_limit = limits(alpha, live)
    return Picture(
        row, phase, stage_rows(current), arms["canary"], arms["control"], arms["shadow"], seen,
        _bar(seen, alpha, live), certainty, said, alpha, live, harm_limit, benefit_limit,
        time_left(row.ends_at, now) if row.state == "running" else "",
    )  # fmt: skip


def stage_rows(stages: Iterable[CanaryStage]) -> list[StageRow]:
    """Stages with their arms read from their counts."""
    names = ("canary", "control", "shadow")
    return [StageRow(stage, *(read_arm(name, stage.counts) for name in names)) for stage in stages]


def _bar(seen: Seen, alpha: float, live: int) -> Bar | None:
    if seen.harm is None and seen.benefit is None:
        return None
    return draw_bar(harm=seen.harm or 0.0, benefit=seen.benefit or 0.0, alpha=alpha, live=live)
