"""Who may break when a rule goes, shown on recorded calls by the real engine."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.actions.dependencies import add_dependency, remove_dependency
from corrections.domain.lifecycle import Refused
from corrections.models import Conflict, ManualDependency
from corrections.queries.dependencies import dependents_of, rule_graph
from memory.domain.access import NotPermitted
from memory.models import AuditEvent, Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW, make_call, make_task
from tests.conftest import Cast
from tests.corrections.builders import make_rule


def make_block(workspace: Workspace, name: str = "Needs a city", **changes: object) -> object:
    """A check of the city that the default of the article's rule satisfies."""
    given = {
        "name": name, "applies_to": {"tool": "weather_api"}, "condition": "",
        "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"check": "input.city == 'Shanghai'", "on_failure": "block", "message": "No city."},
        **changes,
    }  # fmt: skip
    return make_rule(workspace, **given)


def test_dependents__a_check_that_the_rule_repairs__come_with_the_call_that_shows_it(
    workspace: Workspace,
) -> None:
    rule, block = make_rule(workspace), make_block(workspace)
    task = make_task(workspace)
    make_call(task, "weather_api", input={"city": "Paris"})
    shown = make_call(task, "weather_api", input={"city": " "})

    (found,) = dependents_of(rule, now=NOW)

    assert (found.rule, found.edge.kind, found.edge.fields) == (block, "field", ("input.city",))
    assert found.looked_at == 2
    assert found.witness is not None
    assert found.witness.call is not None
    assert (found.witness.call.task_uuid, found.witness.call.seq) == (task.uuid, shown.seq)
    assert found.witness.with_it == "it says nothing"
    assert found.witness.without_it == "it refuses the call: No city."
    assert found.to_dict()["witness"]["call"] == {"task": str(task.uuid), "seq": shown.seq}


def test_dependents__no_call_needed_it__say_in_how_many_it_was_not_seen(workspace: Workspace) -> None:
    rule, _ = make_rule(workspace), make_block(workspace)
    make_call(make_task(workspace), "weather_api", input={"city": "Paris"})

    (found,) = dependents_of(rule, now=NOW)

    assert (found.witness, found.looked_at) == (None, 1)


def test_dependents__a_rule_of_the_tool_switched_to__is_shown_on_the_call_that_becomes_one(
    workspace: Workspace,
) -> None:
    switch = make_rule(
        workspace,
        name="New API",
        condition="",
        action_type="TOOL_SWITCH",
        action_detail={"tool": "weather_v2"},
    )
    block = make_block(workspace, applies_to={"tool": "weather_v2"})
    make_call(make_task(workspace), "weather_api", input={"city": "Rome"})

    (found,) = dependents_of(switch, now=NOW)

    assert (found.rule, found.edge.kind, found.edge.tool) == (block, "tool", "weather_v2")
    assert found.witness is not None
    assert found.witness.with_it == "it refuses the call: No city."


def test_dependents__the_analyser_has_a_witness__it_is_shown_where_no_call_was_recorded(
    workspace: Workspace,
) -> None:
    rule, block = make_rule(workspace), make_block(workspace)
    Conflict.objects.create(
        workspace=workspace, dedupe="x", kind="interference", verdict="conflict", tool="weather_api",
        point="before", rule_a=rule, version_a=1, rule_b=block, version_b=1, witness={"input": {"city": ""}},
        found_at=NOW, updated_at=NOW,
    )  # fmt: skip

    (found,) = dependents_of(rule, now=NOW)

    assert found.witness is not None
    assert (found.witness.call, found.witness.context) == (None, {"input": {"city": ""}})


def test_dependents__a_draft_and_a_retired_rule__only_the_draft_and_after_the_served(
    workspace: Workspace,
) -> None:
    rule = make_rule(workspace)
    draft = make_block(workspace, "A draft", active=False)
    served = make_block(workspace, "Served")
    gone = make_block(workspace, "Retired")
    type(gone).objects.filter(pk=gone.pk).update(status="retired")

    found = dependents_of(rule, now=NOW)

    assert [one.rule for one in found] == [served, draft]


def test_dependents__of_many_rules__cost_the_same_number_of_queries(workspace: Workspace) -> None:
    rule, task = make_rule(workspace), make_task(workspace)
    make_call(task, "weather_api", input={})
    make_block(workspace)
    with CaptureQueriesContext(connection) as few:
        dependents_of(rule, now=NOW)
    for number in range(10):
        make_block(workspace, f"Block {number}")
        make_call(task, "weather_api", input={})

    with CaptureQueriesContext(connection) as many:
        assert len(dependents_of(rule, now=NOW)) == 11

    assert len(many) == len(few)


def test_graph__rules_of_another_workspace__are_not_in_it(cast: Cast) -> None:
    rule, block = make_rule(cast.workspace), make_block(cast.workspace)
    make_rule(cast.elsewhere), make_block(cast.elsewhere)

    found = rule_graph(workspace_id=cast.workspace.pk)

    assert {one.uuid for one in found.graph.rules} == {str(rule.uuid), str(block.uuid)}
    assert rule_graph(workspace_id=cast.workspace.pk, tool="other").graph.edges == ()


def test_manual__said_and_taken_back__is_in_the_graph_and_in_the_audit_trail(cast: Cast) -> None:
    first, second = make_rule(cast.workspace), make_rule(cast.workspace, name="Second")
    by = cast.actor("reviewer")

    row = add_dependency(rule=first, depends_on=second, reason=" It relies on the order. ", by=by)

    (edge,) = rule_graph(workspace_id=cast.workspace.pk).graph.edges
    assert (edge.kind, edge.reason, edge.manual) == ("manual", "It relies on the order.", str(row.uuid))
    assert [one.rule for one in dependents_of(second, now=NOW)] == [first]
    remove_dependency(dependency=row, by=by)
    remove_dependency(dependency=row, by=by)
    assert not ManualDependency.objects.exists()
    verbs = (
        AuditEvent.objects.filter(verb__endswith="dependency").order_by("pk").values_list("verb", flat=True)
    )
    assert list(verbs) == ["add_dependency", "remove_dependency"]


def test_manual__what_cannot_be__is_refused(cast: Cast) -> None:
    first, second = make_rule(cast.workspace), make_rule(cast.workspace, name="Second")
    foreign = make_rule(cast.elsewhere)
    add_dependency(rule=first, depends_on=second, reason="so", by=SYSTEM)

    for rule, other, reason, words in [
        (first, second, "again", "is there already"),
        (first, first, "itself", "cannot need itself"),
        (first, foreign, "other", "of this workspace"),
        (second, first, " ", "Say why"),
    ]:
        with pytest.raises(Refused, match=words):
            add_dependency(rule=rule, depends_on=other, reason=reason, by=SYSTEM)
    with pytest.raises(NotPermitted):
        add_dependency(rule=second, depends_on=first, reason="no", by=cast.actor("viewer"))
    assert ManualDependency.objects.count() == 1
