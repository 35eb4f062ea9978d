"""Canaries opened as people and agents open them, and tasks that were exposed to them."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from corrections.actions.controlling import look_at_canaries
from corrections.actions.rules import activate_rule, draft_rule, edit_rule
from corrections.models import Canary, Exposure, Rule
from hgmem.rules.assignment import unit_digest
from memory.domain.access import Actor
from memory.models import Workspace
from memory.permissions import SYSTEM, system_actor
from tests.corrections.builders import weather_document

CLOCK = system_actor("the clock")
INDUCER = system_actor("inducer")
_numbers = count(1)


def open_canary(workspace: Workspace, *, by: Actor = INDUCER, **changes: Any) -> Canary:
    """The canary of an agent's rule that somebody approved."""
    rule = draft_rule(workspace_id=workspace.pk, document=weather_document(**changes), by=by)
    activate_rule(rule=rule, by=SYSTEM)
    return Canary.objects.get(rule=rule)


def open_edit(rule: Rule, *, by: Actor = INDUCER, **changes: Any) -> Canary:
    """The canary of an agent's new version of a rule that is served."""
    number = rule.latest_version.number if rule.latest_version else 0
    edit_rule(rule=rule, document=weather_document(**changes), base_version=number, by=by)
    activate_rule(rule=Rule.objects.get(pk=rule.pk), by=SYSTEM)
    return Canary.objects.live().get(rule=rule)


def expose(canary: Canary, arm: str, n: int, *, failed: int | None = 0, **fields: Any) -> None:
    """``n`` tasks of an arm in the present stage, ``failed`` of them badly; None: none has ended yet."""
    now, ended = timezone.now(), failed is not None
    guards = dict.fromkeys(("tool_error", "slow", "retried", "overridden"), False) if ended else {}
    names = [f"unit-{next(_numbers)}" for _ in range(n)]
    Exposure.objects.bulk_create(
        Exposure(
            workspace=canary.workspace, canary=canary, stage=canary.stage, unit=name, arm=arm,
            unit_digest=unit_digest(name), share=canary.share, tool="weather_api", exposed_at=now,
            failed=None if failed is None else at < failed, is_due=False, **guards | fields,
        )
        for at, name in enumerate(names)
    )  # fmt: skip
    Canary.objects.filter(pk=canary.pk).update(is_due=True)


def turn(*, later: timedelta = timedelta()) -> int:
    """One turn of the controller."""
    return look_at_canaries(now=timezone.now() + later, by=CLOCK)


def again(canary: Canary) -> Canary:
    """The canary as it is now."""
    return Canary.objects.select_related("rule", "version", "baseline", "workspace").get(pk=canary.pk)


def steps_of(canary: Canary) -> list[str]:
    """What was decided, in order."""
    return list(canary.events.values_list("kind", flat=True))
