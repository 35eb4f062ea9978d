"""Rules, calls and receipts for the rule pages, full of hostile text."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from corrections.actions.rules import draft_rule, edit_rule
from corrections.models import Receipt, ReceiptUse, Rule
from memory.models import ErrorPattern, Task, Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW, make_call, make_failure, make_pattern, make_task
from tests.corrections.builders import make_rule
from tests.pages import HOSTILE


@dataclass(frozen=True)
class RuleScene:
    """A rule with history and uses, a draft, a failing call and its pattern."""

    rule: Rule
    draft: Rule
    task: Task
    pattern: ErrorPattern


def city_calls(workspace: Workspace, pattern: ErrorPattern, *, failing: int = 3, good: int = 5) -> Task:
    """Calls of ``weather_api``: those with an empty city failed."""
    task = make_task(workspace, env={"domain": "travel"}, tags=["trip"])
    for number in range(failing):
        call = make_call(task, "weather_api", input={"city": "", "unit": "C"}, status="error")
        make_failure(call, pattern, message=f"city must not be empty {number}")
    for number in range(good):
        make_call(task, "weather_api", input={"city": f"Town {number}", "unit": "C"}, output={"ok": True})
    return task


def city_pattern(workspace: Workspace, **fields: Any) -> ErrorPattern:
    """The pattern of an empty city."""
    given = {"tool": "weather_api", "identifier": "city", "scope": "travel", "occurrence_count": 3, **fields}
    return make_pattern(workspace, given.pop("title", "weather_api: city must not be empty"), **given)


def make_use(rule: Rule, task: Task, *, role: str = "applied") -> ReceiptUse:
    """A receipt that names the rule."""
    receipt = Receipt.objects.create(
        uuid=uuid4(), workspace=rule.workspace, issued_at=NOW, tool=HOSTILE, ruleset_version="1",
        task_external_id=HOSTILE, body={}, call_task=task, call_seq=0, was_applied=True,
    )  # fmt: skip
    return ReceiptUse.objects.create(receipt=receipt, rule=rule, version=1, role=role)


def build_rule_scene(workspace: Workspace, rows: int) -> RuleScene:
    """``rows`` of everything the rule pages list."""
    pattern = city_pattern(workspace, title=HOSTILE, identifier=HOSTILE)
    rule = hostile_rule(workspace, patterns=(str(pattern.uuid),))
    for number in range(rows):
        make_rule(workspace, active=number % 2 == 0, name=f"{HOSTILE} {number}", description=HOSTILE)
        task = make_task(workspace, f"{HOSTILE} {uuid4()}", env={"domain": HOSTILE})
        call = make_call(task, "weather_api", input={"city": HOSTILE}, output=HOSTILE, status="error")
        make_failure(call, pattern, message=HOSTILE)
        make_call(task, "weather_api", input={"city": f"{HOSTILE} {number}"})
        make_use(rule, task, role="applied" if number % 2 else "errored")
        document = {**rule.latest_version.body, "priority": number + 1}
        rule = edit_rule(rule=rule, document=document, base_version=number + 1, by=SYSTEM, note=HOSTILE)
        city_pattern(workspace, title=f"{HOSTILE} {number}", identifier=HOSTILE)
    Rule.objects.filter(pk=rule.pk).update(last_error=HOSTILE, error_count=rows)
    draft = draft_rule(workspace_id=workspace.pk, document=hostile_document(), by=SYSTEM)
    return RuleScene(Rule.objects.get(pk=rule.pk), draft, task, pattern)


def hostile_document(**changes: Any) -> dict[str, Any]:
    """A rule whose every text is hostile."""
    text = HOSTILE.replace("{{ 7777*7777 }}", "{{ input.city }}")
    return {
        "name": HOSTILE,
        "description": HOSTILE,
        "applies_to": {"tool": "weather_api"},
        "condition": """input.city == '<script>alert("x")</script>' || input.city != '{{ 7777*7777 }}'""",
        "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"on_failure": "ask", "message": text, "check": "input.unit == '<b>'"},
        **changes,
    }


def hostile_rule(workspace: Workspace, *, patterns: tuple[str, ...] = ()) -> Rule:
    """The hostile rule, active."""
    return make_rule(workspace, patterns=patterns, **hostile_document())
