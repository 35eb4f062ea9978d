"""Rules at cross purposes, and findings about them, for tests."""

from typing import Any

from django.utils import timezone

from corrections.background.scanning import scan_backlog
from corrections.models import Conflict, Rule, Ruling
from memory.models import Workspace
from tests.corrections.builders import make_rule


def make_pair(workspace: Workspace, **changes: Any) -> tuple[Rule, Rule]:
    """Two served rules that fill the same field differently: Shanghai goes first by its priority."""
    a = make_rule(workspace, name="Shanghai", priority=2)
    b = make_rule(
        workspace, **{"name": "Beijing", "condition": "input.country == 'CN'", **changes},
        action_detail={"transform": "set_default", "field": "city", "default_value": "Beijing"},
    )  # fmt: skip
    return a, b


def make_ruled(workspace: Workspace) -> tuple[Conflict, Ruling]:
    """A finding about two rules and a ruling on it, as rows; no solver is asked."""
    a, b = make_pair(workspace)
    now, witness = timezone.now(), {"tool": {"name": "weather_api"}, "input": {"country": "CN"}}
    ruling = Ruling.objects.create(
        workspace=workspace, verdict="accept", status="active", rule_a=a, rule_b=b, tool="weather_api",
        witness=witness, reason="known", made_by="owner", made_at=now,
    )  # fmt: skip
    conflict = Conflict.objects.create(
        workspace=workspace, dedupe="x", kind="contradictory", verdict="conflict", status="open",
        tool="weather_api", point="before", field="input.city", rule_a=a, version_a=1, rule_b=b,
        version_b=1, witness=witness, found_at=now, updated_at=now,
    )  # fmt: skip
    return conflict, ruling


def found(workspace: Workspace, kind: str = "contradictory") -> Conflict:
    """The finding of this kind, after the worker's turn."""
    scan_backlog(60.0)
    return Conflict.objects.get(workspace=workspace, kind=kind)
