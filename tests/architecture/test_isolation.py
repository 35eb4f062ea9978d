"""Rows of one workspace, asked for by name from another: never found, never changed."""

import pytest
from django.db import models
from rest_framework.test import APIClient

from corrections.models import ManualDependency, ToolImpact
from memory.models import Alert, ApiKey, AuditEvent, ImportJob, Member, Webhook, WebhookDelivery, Workspace
from tests.architecture.routes import API, PAGES, Route
from tests.builders import (
    NOW,
    make_localization,
    make_path,
    make_pattern,
    make_payload,
    make_task,
    make_tool,
    make_validator,
)  # fmt: skip
from tests.conftest import Cast, make_key, page_client
from tests.corrections.builders import make_change, make_rule, make_rule_proposal
from tests.corrections.canary_scenes import make_tried
from tests.corrections.conflicts import make_ruled
from tests.memory.builders import make_node
from tests.memory.rewrites import make_failed_path, make_proposal
from tests.memory.winning_scenes import make_sequence, make_spot

API_DETAILS = [route for route in API if route.parts]
PAGE_DETAILS = [route for route in PAGES if route.parts]
BODY = {
    "reason": "mine now",
    "decision": "keep",
    "result": "success",
    "by": "agent",
    "role": "owner",
    "status": "ignored",
    "step": "pause",
    "version": "1",
}


@pytest.fixture
def rows(cast: Cast) -> dict[str, models.Model]:
    """One row of each kind in the cast's workspace, by the first part of its URL."""
    workspace = cast.workspace
    make_key(workspace)
    task = make_task(workspace)
    proposal = make_proposal(make_failed_path(workspace))
    conflict, ruling = make_ruled(workspace)
    return {
        "conflicts": conflict,
        "rulings": ruling,
        **dict.fromkeys(("experiences", "tasks"), task),
        "imports": ImportJob.objects.create(workspace=workspace, file_name="a", stored_as="a", format="runs"),
        "keys": ApiKey.objects.get(workspace=workspace),
        "lineages": make_path(workspace).lineage,
        "members": Member.objects.get(workspace=workspace, user=cast.viewer),
        "nodes": make_node(workspace),
        "localizations": (answer := make_localization(workspace, sampled=True)),
        "sample": answer,
        "sample-paths": make_path(workspace),
        "paths": make_path(workspace),
        **dict.fromkeys(("rewrites", "review"), proposal),
        "alerts": Alert.objects.create(
            workspace=workspace, kind="rewrite_storm", dedupe="x", title="x", raised_at=task.received_at
        ),
        "patterns": make_pattern(workspace),
        "payloads": make_payload(workspace, "secret"),
        "rules": (rule := make_rule(workspace)),
        "dependencies": ManualDependency.objects.create(
            workspace=workspace, rule=rule, depends_on=make_rule(workspace), created_at=task.received_at
        ),
        "tools": (tool := make_tool(workspace)),
        "impacts": ToolImpact.objects.create(
            workspace=workspace, tool=tool, from_version=1, to_version=2, opened_at=task.received_at
        ),
        "canaries": make_tried(workspace),
        "rule-proposals": make_rule_proposal(workspace),
        **dict.fromkeys(("change-requests", "changes"), make_change(workspace)),
        "validators": make_validator(workspace),
        "insight-sequences": make_sequence(workspace),
        "insight-weak-spots": make_spot(workspace),
        **webhook_rows(workspace),
    }


def webhook_rows(workspace: Workspace) -> dict[str, models.Model]:
    """A webhook and a message to it."""
    hook = Webhook.objects.create(workspace=workspace, url="https://example.org/a")
    sent = WebhookDelivery.objects.create(
        webhook=hook, event="alert.raised", body={}, next_at=NOW, created_at=NOW
    )
    return {"webhooks": hook, **dict.fromkeys(("deliveries", "webhook-deliveries"), sent)}


def url_of(route: Route, rows: dict[str, models.Model], slug: str) -> str:
    """The URL of the cast's row. A new kind of URL needs a row above: KeyError until then."""
    path = route.path.removeprefix("api/v1/").removeprefix("w/<slug:slug>/")
    kind = path.replace("rules/proposals", "rule-proposals").replace("insights/", "insight-").split("/")[0]
    row = rows[kind]
    names = {"uuid:uuid": "uuid", "slug:digest": "digest"}
    values = {part: str(getattr(row, names[part])) for part in route.parts if part in names}
    # Every rule has a version 1; of the inbox, the item is a rewrite.
    return route.url(values | {"int:number": "1", "slug:kind": "rewrite"}, slug)


def state_of(rows: dict[str, models.Model]) -> dict[str, object]:
    """The stored values of the rows."""
    return {kind: type(row).objects.filter(pk=row.pk).values().first() for kind, row in rows.items()}


@pytest.mark.parametrize("route", API_DETAILS, ids=lambda route: route.name)
def test_api__key_of_another_workspace__finds_and_changes_nothing(
    foreign_api: APIClient, rows: dict[str, models.Model], route: Route
) -> None:
    before, url = state_of(rows), url_of(route, rows, "acme")

    answers = {
        foreign_api.generic(method, url, data_for(route, method), content_type="application/json").status_code
        for method in route.view_class.actions
    }

    assert answers == {404}
    assert state_of(rows) == before


@pytest.mark.parametrize("route", PAGE_DETAILS, ids=lambda route: route.name)
@pytest.mark.parametrize("slug", ["acme", "other"])
def test_page__owner_of_another_workspace__finds_and_changes_nothing(
    cast: Cast, rows: dict[str, models.Model], route: Route, slug: str
) -> None:
    before, events = state_of(rows), AuditEvent.objects.count()
    client, url = page_client(cast.outsider), url_of(route, rows, slug)

    answers = {client.get(url).status_code, client.post(url, BODY).status_code}

    assert 404 in answers
    assert answers <= {404, 405}
    assert (state_of(rows), AuditEvent.objects.count()) == (before, events)


def data_for(route: Route, method: str) -> str:
    """A body that would be accepted for the caller's own rows."""
    if method == "GET":
        return ""
    if route.name == "api-experience-outcomes":
        return '{"result": "success"}'
    if route.name.startswith("api-localization-"):
        return '{"taken": null, "verdict": "right"}'
    if route.name == "api-impact-decide":
        return '{"reason": "mine", "decision": "keep"}'
    return '{"reason": "mine", "version": 1, "base_version": 1, "number": 1, "days": 3, "share": 0.3}'
