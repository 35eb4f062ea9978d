"""A changed tool, from the recorded calls to the decision about its rules."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.actions.changes import approve_batch
from corrections.actions.impacts import decide_impact, undo_impact
from corrections.actions.rules import edit_rule
from corrections.background.impacts import open_impacts
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest, Rule, ToolImpact
from corrections.queries.impacts import impact_view, list_impacts
from memory.background.analyse import analyse_backlog
from memory.domain.access import NotPermitted
from memory.models import AuditEvent, Tool, ToolSchema, Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW, make_call, make_failure, make_pattern, make_task, make_tool, make_validator
from tests.conftest import Cast
from tests.corrections.builders import make_rule

FULL_SCAN = 3
"""Queries by which asking for one scan of everything (many rules) may differ from asking for a few."""
OLD = {"type": "object", "properties": {"city": {"type": "string"}, "day": {"type": "string"}}}


def make_impact(workspace: Workspace, *, version: str = "2.0", calls: int = 1) -> ToolImpact:
    """The tool of the article's rule: version 2.0 is called without a city."""
    tool = make_tool(workspace, "weather_api", reported_version=version)
    for number, reported in ((1, "1.0" if version else ""), (2, version)):
        ToolSchema.objects.create(
            tool=tool, version=number, reported_version=reported, input_schema=OLD, schema_hash="x",
            seen_at=NOW, change="",
        )  # fmt: skip
    task = make_task(workspace)
    for _ in range(calls):
        make_call(task, "weather_api", tool_version=version, input={"place": "Rome", "day": "today"})
    open_impacts()
    return ToolImpact.objects.select_related("tool__workspace").get(tool=tool)


def test_sweep__schema_versions_after_the_first__open_one_impact_each(workspace: Workspace) -> None:
    impact = make_impact(workspace)

    assert (impact.from_version, impact.to_version) == (1, 2)
    assert open_impacts() == 0
    assert list(list_impacts(workspace_id=workspace.pk)) == [impact]


def test_view__a_field_that_callers_no_longer_send__names_the_rules_that_read_and_write_it(
    workspace: Workspace,
) -> None:
    affected = make_rule(workspace)
    fine = make_rule(workspace, name="Day", condition="input.day == 'x'", action_detail=_sets("hour"))
    make_rule(workspace, name="Elsewhere", applies_to="TOOL_CALL:other")
    watching = make_validator(workspace, tool="weather_*", body={"check": "input.city != null"})
    make_validator(workspace, "Other", tool="other")

    view = impact_view(make_impact(workspace, calls=3))

    assert [(change.path, change.kind) for change in view.comparison.changes] == [
        ("input.city", "gone"), ("input.day", "required"), ("input.place", "required"),
    ]  # fmt: skip
    assert view.comparison.calls == 3
    assert {row.rule for row in view.rules} == {affected, fine}
    (row,) = [row for row in view.affected if row.rule == affected]
    assert [change.path for change in row.effect.reads] == ["input.city"]
    assert [change.path for change in row.effect.writes] == ["input.city"]
    assert [one.validator for one in view.validators] == [watching]
    assert not view.is_nothing


def test_view__callers_do_not_say_how_a_call_went__those_without_a_failure_count(
    workspace: Workspace,
) -> None:
    impact = make_impact(workspace, calls=0)
    task = make_task(workspace)
    fine = {"tool_version": "2.0", "status": "unknown"}
    make_call(task, "weather_api", input={"place": "Rome"}, **fine)
    failed = make_call(task, "weather_api", input={"city": "Rome"}, **fine)
    make_failure(failed, make_pattern(workspace))

    view = impact_view(impact)

    assert view.comparison.calls == 1
    assert ("input.city", "gone") in [(change.path, change.kind) for change in view.comparison.changes]


def test_view__nothing_bound_reads_a_changed_field__says_that_nothing_is_affected(
    workspace: Workspace,
) -> None:
    make_rule(workspace, condition="input.hour == 1", action_detail=_sets("hour"))

    assert impact_view(make_impact(workspace)).is_nothing


def _sets(field: str) -> dict[str, Any]:
    return {"op": "set", "field": field, "value": 1}


def test_disable__by_the_system__ends_what_is_served_with_a_row_for_every_rule(workspace: Workspace) -> None:
    first, second = make_rule(workspace), make_rule(workspace, name="Second")
    draft = make_rule(workspace, name="Draft", active=False)
    impact = make_impact(workspace)

    result = decide_impact(impact=impact, decision="disable", reason="no city any more", by=SYSTEM)

    assert {rule.pk for rule in result.done} == {first.pk, second.pk}
    assert [(rule.pk, why) for rule, why in result.skipped] == [(draft.pk, "It is not served.")]
    assert result.waits == 0
    assert set(Rule.objects.filter(status="disabled")) == {first, second}
    assert AuditEvent.objects.filter(verb="disable_rule").count() == 2
    impact.refresh_from_db()
    assert (impact.decision, impact.closed_by) == ("disable", SYSTEM.name)
    with pytest.raises(Refused, match="closed this already"):
        decide_impact(impact=impact, decision="keep", reason="late", by=SYSTEM)


def test_undo__after_a_bulk_disable__serves_the_versions_again(workspace: Workspace) -> None:
    rule = make_rule(workspace)
    impact = make_impact(workspace)
    decide_impact(impact=impact, decision="disable", reason="no city any more", by=SYSTEM)

    result = undo_impact(impact=impact, reason="a mistake", by=SYSTEM)

    rule.refresh_from_db()
    assert (rule.status, rule.live_version.number, result.waits) == ("active", 1, 0)
    impact.refresh_from_db()
    assert impact.closed_at is None
    with pytest.raises(Refused, match="Nothing that was disabled"):
        undo_impact(impact=impact, reason="again", by=SYSTEM)


def test_disable__by_a_maintainer__waits_for_somebody_else(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    impact = make_impact(cast.workspace)

    result = decide_impact(impact=impact, decision="disable", reason="no city", by=cast.actor("maintainer"))

    rule.refresh_from_db()
    assert (rule.status, result.waits) == ("active", 1)
    assert result.batch is not None
    approve_batch(batch=result.batch, by=cast.actor("owner"), note="yes")
    rule.refresh_from_db()
    assert rule.status == "disabled"


def test_requeue__marks_the_rules_for_a_person__with_what_changed(workspace: Workspace) -> None:
    rule = make_rule(workspace)
    impact = make_impact(workspace)

    decide_impact(impact=impact, decision="requeue", reason="look", by=SYSTEM, close=False)
    decide_impact(impact=impact, decision="requeue", reason="look", by=SYSTEM)

    rule.refresh_from_db()
    assert rule.stale_since is not None
    (reason,) = rule.stale_reasons
    assert reason["kind"] == "tool_changed"
    assert reason["detail"] == "The tool weather_api changed to version 2: input.city (gone)."
    assert AuditEvent.objects.filter(verb="requeue_rule", subject_uuid=str(rule.uuid)).count() == 2


def test_rebind__served_and_drafts__get_a_next_version_that_holds_the_new_one(workspace: Workspace) -> None:
    scope = {"tool": "weather_api", "tool_versions": ">=1.0, <2"}
    served = make_rule(workspace, applies_to=scope)
    draft = make_rule(workspace, active=False, name="Draft", applies_to=scope)
    holds = make_rule(workspace, name="Holds")
    impact = make_impact(workspace)

    result = decide_impact(impact=impact, decision="rebind", reason="works with 2.0", by=SYSTEM)

    assert [(rule.pk, why) for rule, why in result.skipped] == [
        (holds.pk, "It holds the new version already.")
    ]
    for rule, live in ((served, 2), (draft, None)):
        rule.refresh_from_db()
        assert rule.latest_version.body["applies_to"]["tool_versions"] == ">=1.0, <=2.0"
        assert (rule.live_version.number if rule.live_version else None) == live
    assert ChangeRequest.objects.filter(kind="edit", status="published").count() == 1
    waiting = ChangeRequest.objects.get(rule=draft)
    assert (waiting.kind, waiting.status, waiting.version.number) == ("create", "open", 2)
    assert AuditEvent.objects.filter(verb="rebind_rule").count() == 2


def test_rebind__an_edit_waits__leaves_the_rule_alone(workspace: Workspace) -> None:
    scope = {"tool": "weather_api", "tool_versions": "<2"}
    rule = make_rule(workspace, applies_to=scope)
    edit_rule(rule=rule, document={**rule.latest_version.body, "name": "Newer"}, base_version=1, by=SYSTEM)
    impact = make_impact(workspace)

    result = decide_impact(
        impact=impact, decision="rebind", reason="works", by=SYSTEM, rules=[rule.uuid], close=False
    )

    assert result.done == []
    assert "waits to be served" in result.skipped[0][1]


def test_decision__what_cannot_be__is_refused_and_changes_nothing(cast: Cast) -> None:
    workspace = cast.workspace
    make_rule(workspace)
    other = make_rule(workspace, name="Elsewhere", applies_to="TOOL_CALL:other")
    impact = make_impact(workspace, version="")

    for fields, words in [
        ({"decision": "drop", "reason": "x"}, "A decision is one of"),
        ({"decision": "keep", "reason": "  "}, "Say why"),
        ({"decision": "disable", "reason": "x", "rules": [other.uuid]}, "is not bound to"),
        ({"decision": "disable", "reason": "x", "rules": []}, "No rule is affected"),
        ({"decision": "rebind", "reason": "x"}, "report no version"),
    ]:
        with pytest.raises(Refused, match=words):
            decide_impact(impact=impact, by=SYSTEM, **fields)
    with pytest.raises(NotPermitted):
        decide_impact(impact=impact, decision="keep", reason="x", by=cast.actor("viewer"))
    impact.refresh_from_db()
    assert impact.closed_at is None


@pytest.mark.parametrize("decision", ["disable", "requeue", "rebind"])
def test_decision__for_5_and_for_200_rules__costs_the_same_number_of_queries(
    workspace: Workspace, decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":  # Django would split an insert at 999 values; SQLite itself takes them
        monkeypatch.setattr(connection.features, "max_query_params", 32_000)
    impact = make_impact(workspace)
    counts = []
    for number in (5, 200):
        some = _make_many(workspace, number)
        with CaptureQueriesContext(connection) as asked:
            result = decide_impact(
                impact=impact, decision=decision, reason="bulk", by=SYSTEM, close=False,
                rules=[rule.uuid for rule in some],
            )  # fmt: skip
        assert len(result.done) == number
        counts.append(len(asked))

    assert abs(counts[1] - counts[0]) <= FULL_SCAN, counts
    verb = {"disable": "disable_rule", "requeue": "requeue_rule", "rebind": "rebind_rule"}[decision]
    assert AuditEvent.objects.filter(verb=verb).count() == 205


def _make_many(workspace: Workspace, number: int) -> list[Rule]:
    """Served rules, written without an event each."""
    template = make_rule(workspace, applies_to={"tool": "weather_api", "tool_versions": "<2"})
    version = template.live_version
    rules = Rule.objects.bulk_create(
        Rule(
            workspace=workspace, name=f"Rule {place}", created_at=NOW, updated_at=NOW, created_by="x",
            created_by_kind="human",
        )
        for place in range(number)
    )  # fmt: skip
    fields = {
        name: getattr(version, name) for name in ("body", "tool", "action_type", "created_at", "created_by")
    }
    versions = type(version).objects.bulk_create(
        type(version)(rule=rule, number=1, created_by_kind="human", **fields) for rule in rules
    )
    for rule, its in zip(rules, versions, strict=True):
        rule.status, rule.live_version, rule.latest_version = "active", its, its
    Rule.objects.bulk_update(rules, ["status", "live_version", "latest_version"])
    return rules


def test_worker__a_version_nobody_reported_before__is_the_next_version_of_the_tool(
    workspace: Workspace,
) -> None:
    for version in ("1.0", "2.0", "1.0", "2.0"):
        task = make_task(workspace, analysed_at=None)
        make_call(task, "pay", tool_version=version, input={"amount": 1})
        analyse_backlog()

    tool = Tool.objects.get(name="pay")
    assert [(row.version, row.reported_version) for row in tool.schemas.order_by("version")] == [
        (1, "1.0"), (2, "2.0"),
    ]  # fmt: skip
    assert tool.schemas.get(version=2).change == "reported version: was 1.0, is 2.0."
    assert open_impacts() == 1
