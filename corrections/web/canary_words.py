"""What the pages say about canaries: states, arms, events and how sure we are, in the reader's language."""

from datetime import datetime
from typing import Any

from django.utils.timesince import timeuntil
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.domain.canary_figures import Arm, Certainty

STATES: dict[str, Any] = {
    "waiting": gettext_lazy("waiting"),
    "shadow": gettext_lazy("in shadow"),
    "running": gettext_lazy("running"),
    "paused": gettext_lazy("paused"),
    "held": gettext_lazy("held for a person"),
    "holdout": gettext_lazy("promoted, holdout"),
    "rolled_back": gettext_lazy("rolled back"),
    "ended": gettext_lazy("ended"),
}
TONES = {"waiting": "warn", "shadow": "plain", "running": "info", "paused": "warn", "held": "warn",
         "holdout": "good", "rolled_back": "bad", "ended": "plain"}  # fmt: skip
STATE_SENTENCES: dict[str, Any] = {
    "waiting": gettext_lazy("It waits; nobody gets the rule from it yet."),
    "shadow": gettext_lazy(
        "It only watches: where the rule would have acted is counted, nothing is changed."
    ),
    "running": gettext_lazy("Some tasks get the rule, the others do not; the tasks decide."),
    "paused": gettext_lazy("Paused: no task gets the rule, and no evidence is gathered."),
    "held": gettext_lazy("Its time is over without a verdict: a person has to decide."),
    "holdout": gettext_lazy(
        "It is served. A few tasks still go without it, so that it is noticed when it becomes useless."
    ),
    "rolled_back": gettext_lazy("It was rolled back: no task gets it any more."),
    "ended": gettext_lazy("It is over."),
}
GROUPS: dict[str, Any] = {
    "trial": gettext_lazy("On trial"),
    "shadow": gettext_lazy("In shadow"),
    "holdout": gettext_lazy("Promoted, with a holdout"),
    "over": gettext_lazy("Finished"),
}
ARMS: dict[str, Any] = {
    "canary": gettext_lazy("with the rule"),
    "control": gettext_lazy("without the rule"),
    "shadow": gettext_lazy("watched"),
}
EDIT_ARMS: dict[str, Any] = {
    "canary": gettext_lazy("new version"),
    "control": gettext_lazy("version served so far"),
}
GUARDRAILS: dict[str, Any] = {
    "tool_error": gettext_lazy("a call failed"),
    "slow": gettext_lazy("slower than usual"),
    "retried": gettext_lazy("a call was retried"),
    "overridden": gettext_lazy("a person overrode it"),
}
EVENTS: dict[str, Any] = {
    "open": gettext_lazy("asked for"), "shadow": gettext_lazy("shadow began"),
    "start": gettext_lazy("started"), "ramp": gettext_lazy("ramped up"), "brake": gettext_lazy("braked"),
    "pause": gettext_lazy("paused"), "resume": gettext_lazy("resumed"), "hold": gettext_lazy("held"),
    "extend": gettext_lazy("given more time"), "promote": gettext_lazy("promoted"),
    "roll_back": gettext_lazy("rolled back"), "end": gettext_lazy("ended"),
    "alarm": gettext_lazy("alarm"), "reset": gettext_lazy("evidence reset"),
    "blocked": gettext_lazy("verdict blocked"), "share": gettext_lazy("share set"),
    "wait": gettext_lazy("waits"),
}  # fmt: skip
EVENT_TONES = {"ramp": "info", "brake": "warn", "promote": "good", "roll_back": "bad", "alarm": "bad",
               "hold": "warn", "blocked": "warn", "reset": "warn"}  # fmt: skip
PHASES: dict[str, Any] = {
    "shadow": gettext_lazy("shadow"),
    "trial": gettext_lazy("trial"),
    "holdout": gettext_lazy("holdout"),
}


SURE: dict[str, Any] = {
    "helps": gettext_lazy(
        "It helps: of 100 tasks at least %(least)s more go well with it. "
        "We are %(sure)s %% sure, however often we looked "
        "(%(with)d tasks with it, %(without)d without)."
    ),
    "harms": gettext_lazy(
        "It harms: of 100 tasks at least %(worst)s more fail with it. "
        "We are %(sure)s %% sure, however often we looked "
        "(%(with)d tasks with it, %(without)d without)."
    ),
}


def certainty_said(certainty: Certainty, *, canary: Arm, control: Arm, alpha: float) -> str:
    """One sentence that says how sure we are, with the numbers it rests on."""
    n = {"with": canary.numbers.decided, "without": control.numbers.decided}
    if certainty.lower is None or certainty.upper is None:
        return (
            _("Not enough data: %(with)d tasks with the rule and %(without)d without have come to an end.")
            % n
        )
    undecided = _(
        "Not decided yet: of 100 tasks between %(lower)s and %(upper)s more go well with it. "
        "We are %(sure)s %% sure of that range (%(with)d tasks with it, %(without)d without)."
    )
    sentence = str(SURE.get(certainty.word, undecided))
    return sentence % {
        **n, "sure": f"{100 * (1 - alpha):g}", "lower": f"{certainty.lower:+.1f}",
        "upper": f"{certainty.upper:+.1f}", "least": f"{certainty.lower:.1f}",
        "worst": f"{-certainty.upper:.1f}",
    }  # fmt: skip


def time_left(ends_at: datetime | None, now: datetime) -> str:
    """How long until the time limit; "" where there is none."""
    if ends_at is None:
        return ""
    return _("its time is over") if ends_at <= now else timeuntil(ends_at, now)
