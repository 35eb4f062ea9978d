"""What a person may do with a canary now: each button acts, or says why not in the action's own words."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from corrections.actions.canaries import STEERS, why_not_steer
from corrections.models import Canary
from memory.domain.access import Actor


@dataclass(frozen=True)
class SteerButton:
    """A step that makes sense in the canary's state; ``why_not`` is empty when the actor may take it now."""

    step: str
    label: Any
    confirm: Any
    kind: str
    why_not: str


@dataclass(frozen=True)
class Words:
    """A button's label and what is asked before it acts."""

    label: Any
    confirm: Any
    kind: str
    done: Any


WORDS: dict[str, Words] = {
    "promote": Words(
        _("Promote"),
        _("All tasks get the rule from now on, except for the holdout. The evidence is not waited for."),
        "primary",
        _("It is promoted: all tasks get the rule, except for the holdout."),
    ),
    "extend": Words(
        _("Give it more time"),
        _("It goes on as it is, with a later time limit."),
        "",
        _("It has more time."),
    ),
    "resume": Words(
        _("Resume"),
        _("It goes on where it stood. Tasks keep their arm."),
        "primary",
        _("It goes on."),
    ),
    "set_share": Words(
        _("Set the share"),
        _("A new stage begins. Tasks that have begun keep what they have when the share goes up."),
        "",
        _("A new stage has begun."),
    ),
    "pause": Words(
        _("Pause"),
        _("No task gets the rule until it is resumed, and no evidence is gathered."),
        "",
        _("It is paused."),
    ),
    "end_holdout": Words(
        _("End the holdout"),
        _("All tasks get the rule, and nobody notices any more when it becomes useless."),
        "",
        _("The holdout is over: all tasks get the rule."),
    ),
    "stop_shadow": Words(
        _("End the shadow run"),
        _("Its matches are no longer counted. What was counted stays."),
        "",
        _("The shadow run is over."),
    ),
    "roll_back": Words(
        _("Roll back"),
        _("No task gets it any more. To try it again, ask for it to be served again."),
        "danger",
        _("It is rolled back: no task gets it any more."),
    ),
}


def steer_buttons(row: Canary, actor: Actor) -> list[SteerButton]:
    """The steps that make sense in the canary's state."""
    return [
        SteerButton(step, words.label, words.confirm, words.kind, why_not_steer(row, step, actor))
        for step, words in WORDS.items()
        if row.state in STEERS[step].states and not _is_beside(row, step)
    ]


def _is_beside(row: Canary, step: str) -> bool:
    """A shadow run that nobody approved is ended; what was approved is rolled back."""
    if row.change_id is None:
        return step == "roll_back" and row.state in ("shadow", "paused")
    return step == "stop_shadow"
