"""Rules at cross purposes, and findings about them, for tests."""

from typing import Any

from corrections.background.scanning import scan_backlog
from corrections.models import Conflict, Rule
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


def found(workspace: Workspace, kind: str = "contradictory") -> Conflict:
    """The finding of this kind, after the worker's turn."""
    scan_backlog(60.0)
    return Conflict.objects.get(workspace=workspace, kind=kind)
