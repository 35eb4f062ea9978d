"""Telling people and other systems what became of a canary, in the transaction in which it did."""

from collections.abc import Mapping
from typing import Any

from corrections.models import Canary
from memory.actions.alerts import raise_alert
from memory.actions.webhooks import notify
from memory.domain.access import Actor

TITLES = {
    "canary_rolled_back": "Rolled back: {}",
    "canary_held": "A canary waits for a decision: {}",
    "canary_mismatch": "A canary cannot be judged: {}",
    "canary_alarm": "A promoted rule should be looked at: {}",
}
SHOWN = (
    "canary", "control", "share", "decided", "harm_e", "benefit_e", "guard_e", "guardrails", "uplift",
    "mismatch_p", "live",
)  # fmt: skip
"""The figures that go into an alert or a webhook."""


def alert_about(canary: Canary, kind: str, *, reason: str, numbers: Mapping[str, Any], by: Actor) -> None:
    """Ask people to look, once as long as nobody closed it."""
    detail = facts_of(canary, numbers) | {"reason": reason}
    raise_alert(
        workspace_id=canary.workspace_id, kind=kind, dedupe=f"{kind}:{canary.uuid}", detail=detail, by=by,
        title=TITLES[kind].format(canary.rule.name),
    )  # fmt: skip


def tell_of(canary: Canary, event: str, numbers: Mapping[str, Any], *, reason: str = "") -> None:
    """Put a message on its way to the webhooks that want it."""
    body = facts_of(canary, numbers) | {"reason": reason or canary.state_reason}
    notify(workspace_id=canary.workspace_id, event=event, subject=canary, body=body)


def facts_of(canary: Canary, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Which canary, and the figures; JSON-ready."""
    return {
        "canary": str(canary.uuid), "rule": str(canary.rule.uuid), "rule_name": canary.rule.name,
        "version": canary.version.number, "state": canary.state,
        "numbers": {name: numbers[name] for name in SHOWN if name in numbers},
    }  # fmt: skip
