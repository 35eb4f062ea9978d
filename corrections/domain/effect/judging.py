"""The decision about one canary, as a table: the first row that applies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corrections.domain.effect.evidence import Evidence, Judgement, Limits, Step
from corrections.domain.effect.look import Look, numbers_of
from corrections.domain.effect.sentences import SENTENCES

JUDGED_STATES = ("running", "held", "holdout")
"""States in which evidence is looked at. A canary that waits, is paused or only watches keeps waiting."""
_TRIED = ("running", "held")
_ANY = ("waiting", "shadow", "running", "paused", "held", "holdout")


@dataclass(frozen=True)
class Row:
    """A row of the table: what to do, why, in which states, and whether it applies to what was seen."""

    step: Step
    because: str
    states: tuple[str, ...]
    applies: Callable[[Look], bool]


TABLE: Sequence[Row] = (
    Row("blocked", "mismatch", JUDGED_STATES, lambda look: look.is_mismatch),
    Row("roll_back", "harmful", JUDGED_STATES, lambda look: look.is_harmful),
    Row("roll_back", "unsafe", JUDGED_STATES, lambda look: look.is_unsafe),
    Row("alarm", "worse", ("holdout",), lambda look: look.reaches(look.limits.alarm_e)),
    Row("alarm", "useless", ("holdout",), lambda look: look.is_useless),
    Row("brake", "suspect", ("running",), lambda look: look.is_suspect and look.is_above_first_share),
    Row("promote", "helpful", _TRIED, lambda look: look.is_helpful and not look.is_suspect),
    Row(
        "promote",
        "stays",
        ("running",),
        lambda look: look.is_over and look.evidence.is_human and look.is_quiet,
    ),
    Row("hold", "time", ("running",), lambda look: look.is_over),
    Row("ramp", "quiet", ("running",), lambda look: look.may_ramp),
    Row("wait", "young", _TRIED, lambda look: look.evidence.decided < look.limits.min_look),
    Row("wait", "open", _TRIED, lambda _look: True),
    Row("wait", "useful", ("holdout",), lambda _look: True),
    Row("wait", "unjudged", _ANY, lambda _look: True),
)
"""Read from the top; the first row whose state and condition hold decides."""


def judge(evidence: Evidence, *, rules: Limits | None = None) -> Judgement:
    """What to do about a canary now: the first row of :data:`TABLE` that applies.

    Pure: the same evidence gives the same judgement. ``numbers`` holds what was seen, as JSON values. E are
    there as they are (``harm_e``, capped at e**700) and as logarithms (``harm_log_e``); ``because`` names the
    row, ``share_to`` is the share to go to for a ramp or a brake, else null.
    """
    look = Look(evidence, rules or Limits())
    row = next((row for row in TABLE if evidence.state in row.states and row.applies(look)), TABLE[-1])
    goes_to = {"ramp": look.limits.full_share, "brake": look.limits.first_share}.get(row.step)
    numbers = numbers_of(look) | {"because": row.because, "share_to": goes_to}
    return Judgement(row.step, SENTENCES[row.because](look), numbers)
