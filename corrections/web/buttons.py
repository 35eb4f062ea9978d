"""The steps in a rule's life as buttons: each may be taken now, or says why not in the action's own words."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from corrections.domain.canaries import on_trial_already
from corrections.domain.documents import check_window
from corrections.domain.lifecycle import Refused, check_publishes, check_step
from corrections.models import Rule
from corrections.queries.canaries import trial_of
from hgmem.rules import RuleError
from memory.domain.access import Actor, NotPermitted, check_may
from memory.domain.lifecycle import TransitionError


@dataclass(frozen=True)
class StepButton:
    """``why_not`` is empty when the step may be taken; ``confirm`` is asked first when it is set."""

    step: str
    label: Any
    why_not: str
    confirm: Any = ""
    kind: str = ""


def step_buttons(rule: Rule, actor: Actor, now: datetime, *, needed_by: int = 0) -> list[StepButton]:
    """Activate, disable, retire, delete: each asks for a change, and approves it where that counts.

    ``needed_by`` other rules may break: then disabling is confirmed, too.
    """
    warning = _needed(needed_by) if needed_by else ""
    newer = rule.live_version is not None and rule.live_version != rule.latest_version
    number = rule.latest_version.number if rule.latest_version else 0
    activate = _("Serve version %(number)s") % {"number": number} if newer else _("Activate")
    return [
        StepButton("activate", activate, why_not(lambda: _check_activate(rule, actor, now)), kind="primary"),
        StepButton("disable", _("Disable"), why_not(lambda: _check_step(rule, actor, "disable")), warning),
        StepButton(
            "retire",
            _("Retire"),
            why_not(lambda: _check_step(rule, actor, "retire")),
            _("A retired rule is never served again and cannot be edited. Its history stays."),
            "danger",
        ),
        StepButton(
            "delete",
            _("Delete"),
            why_not(lambda: _check_step(rule, actor, "delete")),
            _("A deleted rule leaves the lists. Its history and evidence stay."),
            "danger",
        ),
    ]


def _needed(count: int) -> str:
    said = ngettext(
        "%(n)s rule needs this one and may break.", "%(n)s rules need this one and may break.", count
    )
    return said % {"n": count}


def why_not_edit(rule: Rule, actor: Actor) -> str:
    """Why the rule cannot be edited; empty when it can."""

    def check() -> None:
        check_may(actor, "draft_rule")
        check_step(rule.status, "edit")

    return why_not(check)


def why_not_review(actor: Actor) -> str:
    """Why the actor cannot say that a rule is still right; empty when they can."""
    return why_not(lambda: check_may(actor, "review_rule"))


def _check_step(rule: Rule, actor: Actor, step: str) -> None:
    check_may(actor, "draft_rule")
    check_step(rule.status, step)


def _check_activate(rule: Rule, actor: Actor, now: datetime) -> None:
    _check_step(rule, actor, "activate")
    if rule.latest_version is None:
        return
    live = rule.live_version.number if rule.live_version else None
    check_publishes(rule.status, live=live, latest=rule.latest_version.number)
    trial = trial_of(rule)
    if trial is not None and trial.version_id == rule.latest_version_id:
        raise Refused(on_trial_already(rule.latest_version.number))
    check_window(rule.latest_version.valid_until, now)


def why_not(check: Callable[[], None]) -> str:
    """What ``check`` refuses with, as its sentence; empty when it refuses nothing."""
    try:
        check()
    except (NotPermitted, Refused, RuleError, TransitionError) as refusal:
        return str(refusal)
    return ""
