"""Does a rule help or harm? The statistics of canaries, pure: counts in, evidence and a judgement out.

See ``docs/decisions/0010-statistics-of-canaries.md`` for what was chosen and why.
"""

from corrections.domain.effect.counts import ArmCounts, StageCounts
from corrections.domain.effect.eprocess import benefit_log_e, harm_log_e, log_e, mean_log_e
from corrections.domain.effect.evidence import Evidence, Judgement, Limits, Step
from corrections.domain.effect.judging import JUDGED_STATES, judge
from corrections.domain.effect.many import e_bh
from corrections.domain.effect.ratio import MISMATCH_P, sample_ratio_p
from corrections.domain.effect.score import beta_mean
from corrections.domain.effect.uplift import Interval, uplift, uplift_bounds

__all__ = [
    "JUDGED_STATES",
    "MISMATCH_P",
    "ArmCounts",
    "Evidence",
    "Interval",
    "Judgement",
    "Limits",
    "StageCounts",
    "Step",
    "benefit_log_e",
    "beta_mean",
    "e_bh",
    "harm_log_e",
    "judge",
    "log_e",
    "mean_log_e",
    "sample_ratio_p",
    "uplift",
    "uplift_bounds",
]
